"""Trust bundles in projected volumes: which are chosen, and what is written when there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.client.refs import CLUSTER_TRUST_BUNDLES
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.lib.clock import ManualClock
from pybernetes.lib.tls import tls
from pybernetes.node.kubelet.volumes.errors import VolumeError
from pybernetes.node.kubelet.volumes.kinds.projected import VOLUME
from pybernetes.node.kubelet.volumes.volume_inputs import VolumeInputs
from pybernetes.node.kubelet.volumes.volume_kind import VolumeRequest
from tests.cluster import Cluster

SIGNER = "example.com/one"
FIRST, SECOND = (tls.create_authority(name).certificate.decode() for name in ("first", "second"))
MISSING = {"name": "example.com:one:none"}


def bundle(name: str, text: str, **labels: str) -> dict[str, Any]:
    return {
        "metadata": {"name": f"example.com:one:{name}", "labels": labels},
        "spec": {"signerName": SIGNER, "trustBundle": text},
    }


async def written(cluster: Cluster, **source: Any) -> list[str] | None:
    """Return the certificates in the file of a source, None if the volume is not available."""
    inputs = VolumeInputs(Path("/nowhere"), cluster.client, None, ManualClock(0), dict)
    volume = {"sources": [{"clusterTrustBundle": {"path": "ca.crt", **source}}]}
    try:
        files = await VOLUME.files(VolumeRequest({}, "v", volume, Path("/nowhere"), inputs))
    except VolumeError:
        return None
    end = "-----END CERTIFICATE-----\n"
    return [certificate + end for certificate in files["ca.crt"].data.decode().split(end) if certificate]


async def test_which_are_chosen() -> None:
    by_label = {"matchLabels": {"alive": "true"}}
    by_expression = {"matchExpressions": [{"key": "alive", "operator": "NotIn", "values": ["true"]}]}
    nobody = {"matchLabels": {"alive": "perhaps"}}
    async with Cluster() as cluster:
        await cluster.client.create(CLUSTER_TRUST_BUNDLES, bundle("a", FIRST, alive="true"))
        await cluster.client.create(CLUSTER_TRUST_BUNDLES, bundle("b", SECOND + FIRST, alive="false"))
        cases: list[tuple[Object, list[str] | None]] = [
            ({"name": "example.com:one:a"}, [FIRST]),
            (MISSING, None),
            (MISSING | {"optional": True}, []),
            ({"signerName": SIGNER, "labelSelector": by_label}, [FIRST]),
            ({"signerName": SIGNER, "labelSelector": by_expression}, [SECOND, FIRST]),
            ({"signerName": SIGNER, "labelSelector": {}}, [FIRST, SECOND]),
            ({"signerName": SIGNER, "labelSelector": nobody}, None),
            ({"signerName": SIGNER, "labelSelector": nobody, "optional": True}, []),
            ({"signerName": SIGNER}, None),
            ({"signerName": SIGNER, "optional": True}, []),
        ]
        for source, certificates in cases:
            assert await written(cluster, **source) == certificates, source


async def test_an_answer_that_fails_is_not_an_empty_bundle() -> None:
    async with Cluster() as cluster:
        cluster.client = cluster.local_client(User("nobody"))
        assert await written(cluster, **MISSING, optional=True) is None
