"""Corefiles that answer for a set of clusters."""

from __future__ import annotations

import pytest

from pybernetes.node.dns import corefile, usual
from pybernetes.tools.federation.corefiles import with_cluster_set
from pybernetes.tools.federation.errors import FederationError

BLOCK = """.:53 {
    kubernetes cluster.local in-addr.arpa {
       pods insecure
    }
}
"""


@pytest.mark.parametrize(
    "text", [usual.cluster("cluster.local"), BLOCK, ".:53 {\n  kubernetes cluster.local\n}\n"]
)
def test_the_zone_is_added_once(text: str) -> None:
    changed = with_cluster_set(text)
    assert with_cluster_set(changed) == changed != text
    directives = [
        directive
        for block in corefile.parse(changed)
        for directive in block.directives
        if directive.name == "kubernetes"
    ]
    assert [directive.arguments[:2] for directive in directives] == [("cluster.local", "clusterset.local")]
    assert ("multicluster", "clusterset.local") in [line.words for line in directives[0].inner]


def test_other_zones_and_lines_stay() -> None:
    assert (
        with_cluster_set(BLOCK)
        == """.:53 {
    kubernetes cluster.local clusterset.local in-addr.arpa {
       multicluster clusterset.local
       pods insecure
    }
}
"""
    )


@pytest.mark.parametrize(
    "text", ["", ".:53 {\n forward . 1.1.1.1\n}\n", ".:53 {\n # kubernetes cluster.local\n}\n"]
)
def test_a_file_without_the_plugin_is_left_alone(text: str) -> None:
    with pytest.raises(FederationError):
        with_cluster_set(text)
