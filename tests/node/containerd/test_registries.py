"""Where containerd pulls from."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from pybernetes.node.containerd import registries


def test_mirrors_come_before_the_registry_itself(tmp_path: Path) -> None:
    folder = tmp_path / "registries"
    mirrors = ["docker.io=http://10.0.0.1:5000", "docker.io=https://m.local/v2", "*=https://all"]
    for _ in range(2):
        registries.write(folder, mirrors, ["r:5000"])
    assert sorted(path.name for path in folder.iterdir()) == ["_default", "docker.io", "r:5000"]
    docker = tomllib.loads((folder / "docker.io" / "hosts.toml").read_text())
    assert docker["server"] == "https://registry-1.docker.io"
    assert list(docker["host"]) == ["http://10.0.0.1:5000", "https://m.local/v2"]
    assert "server" not in tomllib.loads((folder / "_default" / "hosts.toml").read_text())
    insecure = tomllib.loads((folder / "r:5000" / "hosts.toml").read_text())
    assert list(insecure["host"]) == ["https://r:5000", "http://r:5000"]
    assert all(host["skip_verify"] for host in insecure["host"].values())


@pytest.mark.parametrize(
    "text", ["docker.io", "../x=http://a", "a=ftp://b", 'a=http://b"]\n[x', "=http://b", "a b=http://c"]
)
def test_what_is_no_mirror_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="registry mirror"):
        registries.files([text], [])


@pytest.mark.parametrize("text", ["*", "..", "a/b", "http://a", ""])
def test_what_is_no_registry_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="insecure registry"):
        registries.files([], [text])
