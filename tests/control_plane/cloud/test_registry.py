"""Which clouds and loops there are, and that those of other packages are found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pybernetes.control_plane.cloud import registry

PLUGIN = "class Cloud:\n    name = 'example'\n\n\ndef make(text):\n    cloud = Cloud()\n    cloud.text = text\n    return cloud\n"


def test_names_are_upstreams() -> None:
    aliases = {name: descriptor.aliases for name, descriptor in registry.descriptors().items()}
    assert aliases == {
        "cloud-node-controller": ("cloud-node",),
        "cloud-node-lifecycle-controller": ("cloud-node-lifecycle",),
        "node-route-controller": ("route",),
        "service-lb-controller": ("service",),
    }


def test_unknown_providers_are_refused() -> None:
    with pytest.raises(ValueError, match=r'unknown cloud provider "nowhere"; there are: .*fake'):
        registry.provider("nowhere")


def test_a_bad_configuration_is_named(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text("nonsense: 1\n")
    with pytest.raises(ValueError, match='could not init cloud provider "fake": unknown field'):
        registry.provider("fake", str(file))
    with pytest.raises(ValueError, match="No such file"):
        registry.provider("fake", str(tmp_path / "missing"))
    file.write_text("pool: 192.0.2.0/30\ninstances: {a: {addresses: [10.0.0.1], zone: z}}\n")
    assert registry.provider("fake", str(file)).name == "fake"


def test_a_provider_of_another_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examplecloud.py").write_text(PLUGIN)
    about = tmp_path / "examplecloud-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: examplecloud\nVersion: 1\n")
    (about / "entry_points.txt").write_text(
        "[pybernetes.cloud_providers]\nexample = examplecloud:make\nfake = examplecloud:make\n"
    )
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "examplecloud", raising=False)
    assert "example" in registry.provider_names()
    config = tmp_path / "config"
    config.write_text("hello")
    assert registry.provider("example", str(config)).text == "hello"  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match='several cloud providers named "fake"'):
        registry.provider("fake")
