"""Whose requests for serving certificates are approved in a cluster with several control planes."""

from __future__ import annotations

import pytest

from pybernetes.tools.local.control_planes.serving_certificates import permitted
from tests.tools.local.nodes.test_serving_approval import request


@pytest.mark.parametrize(
    ("names", "asker", "machine"),
    [
        (("n", "10.0.0.2"), "system:node:n", "n"),
        (("n", "10.0.0.3"), "system:node:n", ""),  # another machine's address
        (("n", "10.0.0.2", "kubernetes"), "system:node:n", ""),
        (("n",), "system:node:stranger", ""),
        (("n",), "kubernetes-admin", ""),
    ],
)
def test_machines_get_certificates_of_their_own(names: tuple[str, ...], asker: str, machine: str) -> None:
    assert permitted(request(*names, asker=asker), {"n": ("10.0.0.2",), "m": ("10.0.0.3",)}) == machine


def test_a_node_that_nobody_made_gets_none() -> None:
    assert permitted(request("n", "10.0.0.2"), {}) == ""
