"""Names of images."""

from __future__ import annotations

import pytest

from pybernetes.tools.local.images import full_name


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
