"""Names of images, and who reads them."""

from __future__ import annotations

import pytest

from pybernetes.node.containerd.images import ImageError
from pybernetes.tools.local.nodes import images
from pybernetes.tools.local.nodes.images import full_name
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import Settings


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("web", "docker.io/library/web:latest"),
        ("web:1", "docker.io/library/web:1"),
        ("me/web:1", "docker.io/me/web:1"),
        ("localhost/web", "localhost/web:latest"),
        ("example.com:5000/a/b", "example.com:5000/a/b:latest"),
    ],
)
def test_names_of_images(name: str, full: str) -> None:
    assert full_name(name) == full


def test_without_a_node_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images.saved_settings, "load", lambda cluster: Settings())
    with pytest.raises(ImageError, match=r"no node with real containers .*pyb node add --cluster toy"):
        images.sockets(Cluster("toy"))
