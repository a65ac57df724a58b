"""projected: several sources in one folder, the service account's token among them."""

from __future__ import annotations

from pybernetes.client.errors import StatusError
from pybernetes.client.refs import CLUSTER_TRUST_BUNDLES
from pybernetes.node.kubelet.volumes.base import Content, Item, Request, VolumeError, decode_mode
from pybernetes.node.kubelet.volumes.kinds import _content, _token


async def _files(request: Request) -> dict[str, Item]:
    mode = decode_mode(request.source)
    found: dict[str, Item] = {}
    for source in request.source.get("sources", ()):
        if "configMap" in source:
            each = source["configMap"]
            found |= await _content.config_map(request, each, each["name"], mode)
        elif "secret" in source:
            each = source["secret"]
            found |= await _content.secret(request, each, each["name"], mode)
        elif "downwardAPI" in source:
            found |= _content.downward(request, source["downwardAPI"], mode)
        elif "serviceAccountToken" in source:
            found |= await _token.token(request, source["serviceAccountToken"], mode)
        elif "clusterTrustBundle" in source:
            found |= await _trust(request, source["clusterTrustBundle"], mode)
        else:
            raise VolumeError(f"the source {next(iter(source), '')} is not supported by this kubelet")
    return found


async def _trust(request: Request, source: dict, mode: int) -> dict[str, Item]:
    """The certificates of trust bundles, by name or by signer and labels."""
    client = request.around.client
    if client is None:
        raise VolumeError("this kubelet has no API server to ask")
    try:
        if source.get("name"):
            bundles = [await client.get(CLUSTER_TRUST_BUNDLES, source["name"])]
        else:
            labels = ",".join(
                f"{k}={v}" for k, v in ((source.get("labelSelector") or {}).get("matchLabels") or {}).items()
            )
            page = await client.list(
                CLUSTER_TRUST_BUNDLES, labels=labels, fields=f"spec.signerName={source['signerName']}"
            )
            bundles = page.items
    except StatusError as error:
        if source.get("optional"):
            return {}
        raise VolumeError(str(error)) from None
    parts = dict.fromkeys(bundle["spec"]["trustBundle"].strip() for bundle in bundles)
    if not parts and not source.get("optional"):
        raise VolumeError("combination of signerName and labelSelector matched zero ClusterTrustBundles")
    text = "\n".join(parts) + "\n" if parts else ""
    return {source["path"]: Item(text.encode(), mode)}


VOLUME = Content("projected", _files, in_memory=True)
