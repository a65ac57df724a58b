"""Every active namespace has the certificate authority."""

from __future__ import annotations

import hashlib

from pybernetes.client.refs import CLUSTER_TRUST_BUNDLES, CONFIG_MAPS, NAMESPACES
from pybernetes.control_plane.controllers import (
    kube_apiserver_clustertrustbundle_publisher,
    root_ca_certificate_publisher,
)
from pybernetes.control_plane.controllers.root_ca_certificate_publisher import ANNOTATION, NAME, published
from tests.cluster import Cluster
from tests.control_plane.controllers.managers import controllers, get_or_none, namespace
from tests.support import eventually


async def test_root_certificate_is_in_every_namespace() -> None:
    async with Cluster() as cluster:
        client, file = cluster.client, cluster.directory / "ca.crt"
        descriptors = (
            root_ca_certificate_publisher.CONTROLLER,
            kube_apiserver_clustertrustbundle_publisher.CONTROLLER,
        )
        async with controllers(client, *descriptors, root_ca_file=str(file)):
            await client.create(NAMESPACES, namespace("blue"))
            config_map = await eventually(lambda: get_or_none(client.get(CONFIG_MAPS, NAME, "blue")))
            assert config_map["data"] == {"ca.crt": file.read_text()}
            await client.patch(CONFIG_MAPS, NAME, {"data": {"ca.crt": "mine", "more": "x"}}, "blue")

            async def is_back() -> bool:
                return (await client.get(CONFIG_MAPS, NAME, "blue"))["data"] == {"ca.crt": file.read_text()}

            await eventually(is_back)
            digest = hashlib.sha256(file.read_bytes()).hexdigest()[:24]
            name = f"kubernetes.io:kube-apiserver-serving:{digest}"
            bundle = await eventually(lambda: get_or_none(client.get(CLUSTER_TRUST_BUNDLES, name)))
            assert bundle["spec"]["trustBundle"] == file.read_text()


def test_a_config_map_that_is_right_is_left_alone() -> None:
    fresh = published(None, "blue", "CERTIFICATE")
    assert fresh is not None
    assert published(fresh, "blue", "CERTIFICATE") is None
    fresh["metadata"]["annotations"] = {"mine": "yes"}
    changed = published(fresh, "blue", "CERTIFICATE")
    assert changed is not None
    assert set(changed["metadata"]["annotations"]) == {"mine", ANNOTATION}
