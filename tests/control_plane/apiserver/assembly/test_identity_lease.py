"""The leases of API servers: named after their hosts, and deleted when nobody renews them."""

from __future__ import annotations

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.assembly.identity_lease import expired, identity
from tests.servers import Server

PATH = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"


def test_a_name_is_that_of_the_host() -> None:
    assert identity("vm") == "apiserver-wlv32tlttr4jl3gtroqexyxapa"
    assert identity("vm") != identity("other")


@pytest.mark.parametrize(
    ("spec", "gone"),
    [
        ({"renewTime": "1970-01-01T00:00:10.000000Z", "leaseDurationSeconds": 10}, True),
        ({"renewTime": "1970-01-01T00:01:35.000000Z", "leaseDurationSeconds": 10}, False),
        ({"leaseDurationSeconds": 10}, True),
        ({"renewTime": "1970-01-01T00:01:35.000000Z"}, True),
    ],
)
def test_when_a_server_is_gone(spec: Object, gone: bool) -> None:
    assert expired({"spec": spec}, 100.0) is gone


def test_a_server_has_a_lease(server: Server) -> None:
    query = {"labelSelector": "apiserver.kubernetes.io/identity=kube-apiserver"}
    (lease,) = server.call("GET", PATH, query=query)[1]["items"]
    assert lease["spec"]["holderIdentity"].startswith(lease["metadata"]["name"] + "_")
    assert lease["spec"]["leaseDurationSeconds"] == 3600
