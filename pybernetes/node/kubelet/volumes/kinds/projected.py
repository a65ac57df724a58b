"""projected: several sources in one folder, the service account's token among them."""

from __future__ import annotations

import re

from pybernetes.api import selectors
from pybernetes.api.resource import Object
from pybernetes.client.errors import NotFound, StatusError
from pybernetes.client.refs import CLUSTER_TRUST_BUNDLES
from pybernetes.node.kubelet.volumes.errors import VolumeError
from pybernetes.node.kubelet.volumes.kinds import _content, _token
from pybernetes.node.kubelet.volumes.volume_kind import (
    ContentVolume,
    VolumeFile,
    VolumeRequest,
    add_content,
    default_mode,
)

_TRUST_BUNDLE_SECONDS = 60.0
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)


async def _files(request: VolumeRequest) -> dict[str, VolumeFile]:
    mode = default_mode(request.source)
    files: dict[str, VolumeFile] = {}
    size = 0
    for source in request.source.get("sources", ()):
        given = await _of_source(request, source, mode)
        size = add_content(size, given)  # also what later sources replace: it takes its time as well
        files |= given
    return files


async def _of_source(request: VolumeRequest, source: Object, mode: int) -> dict[str, VolumeFile]:
    """Return the files of one source."""
    if "configMap" in source:
        config_map = source["configMap"]
        return await _content.config_map(request, config_map, config_map["name"], mode)
    if "secret" in source:
        secret = source["secret"]
        return await _content.secret(request, secret, secret["name"], mode)
    if "downwardAPI" in source:
        return _content.downward(request, source["downwardAPI"], mode)
    if "serviceAccountToken" in source:
        return await _token.token(request, source["serviceAccountToken"], mode)
    if "clusterTrustBundle" in source:
        return await _trust_bundles(request, source["clusterTrustBundle"], mode)
    if "podCertificate" in source:
        from pybernetes.node.kubelet.volumes.kinds import _certificate  # imported late: few pods have one

        return await _certificate.certificate(request, source["podCertificate"], mode)
    raise VolumeError(f"the source {next(iter(source), '')} is not supported by this kubelet")


async def _trust_bundles(request: VolumeRequest, source: Object, mode: int) -> dict[str, VolumeFile]:
    """Return the certificates of trust bundles, by name or by signer and labels, each of them once."""
    client = request.inputs.client
    if client is None:
        raise VolumeError("this kubelet has no API server to ask")
    chosen = source.get("labelSelector")
    bundles: list[Object] = []
    try:
        if source.get("name"):
            bundles = [await client.get(CLUSTER_TRUST_BUNDLES, source["name"])]
        elif chosen is not None:  # no selector selects nothing, an empty one everything
            labels, fields = str(selectors.from_object(chosen)), f"spec.signerName={source['signerName']}"
            bundles = (await client.list(CLUSTER_TRUST_BUNDLES, labels=labels, fields=fields)).items
    except NotFound as error:
        if not source.get("optional"):
            raise VolumeError(str(error)) from None
    except StatusError as error:
        raise VolumeError(str(error)) from None
    if not bundles and not source.get("optional"):
        raise VolumeError("combination of signerName and labelSelector matched zero ClusterTrustBundles")
    certificates = dict.fromkeys(
        certificate for bundle in bundles for certificate in _PEM.findall(bundle["spec"]["trustBundle"])
    )
    return {
        source["path"]: VolumeFile("".join(f"{certificate}\n" for certificate in certificates).encode(), mode)
    }


def _refresh_after(source: Object) -> float | None:
    """Return when trust bundles are fetched again: they are not watched."""
    bundles = any("clusterTrustBundle" in projected for projected in source.get("sources", ()))
    return _TRUST_BUNDLE_SECONDS if bundles else None


VOLUME = ContentVolume("projected", _files, in_memory=True, refresh_after=_refresh_after)
