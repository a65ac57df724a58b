"""The cache of what a server has: nobody else may write it, and what somebody else wrote is not read."""

from __future__ import annotations

import marshal
import os
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.tools.kubectl.resources.discovery import Discovery, Resource

_GROUPS = {
    "kind": "APIGroupDiscoveryList",
    "items": [{"metadata": {"name": ""}, "versions": [{"version": "v1", "resources": [
        {"resource": "pods", "responseKind": {"kind": "Pod"}, "scope": "Namespaced", "verbs": ["get"], "singularResource": "pod"}]}]}],
}  # fmt: skip


def discovery(folder: Path) -> Discovery:
    def answer(method: str, path: str, accept: str = "") -> dict[str, Any]:
        return _GROUPS if path == "/api" else {"kind": "APIGroupDiscoveryList"}

    access = SimpleNamespace(host_header="server:6443", prefix="")
    return Discovery(SimpleNamespace(access=access, json=answer), str(folder))  # type: ignore[arg-type]


def cached(folder: Path) -> Path:
    (file,) = (folder / "pybernetes").iterdir()
    return file


def planted(folder: Path) -> None:
    """Put another content into the cache, as somebody would who can write there."""
    fields = list(discovery(folder).resources()[0])
    fields[fields.index("pods")] = "planted"
    cached(folder).write_bytes(marshal.dumps([tuple(fields)]))


def names(resources: list[Resource]) -> list[str]:
    return [resource.plural for resource in resources]


def test_the_cache_is_its_owners_alone(tmp_path: Path) -> None:
    """CVE-2019-11244: the files of kubectl's cache could be changed by everybody."""
    before = os.umask(0)
    try:
        assert names(discovery(tmp_path).resources()) == ["pods"]
    finally:
        os.umask(before)
    assert stat.S_IMODE(cached(tmp_path).stat().st_mode) == 0o640
    assert stat.S_IMODE(cached(tmp_path).parent.stat().st_mode) == 0o750
    planted(tmp_path)
    assert names(discovery(tmp_path).resources()) == ["planted"]  # it is read at all


@pytest.mark.parametrize("mode", [0o660, 0o646])
def test_a_cache_that_others_can_change_is_not_read(tmp_path: Path, mode: int) -> None:
    planted(tmp_path)
    cached(tmp_path).chmod(mode)
    assert names(discovery(tmp_path).resources()) == ["pods"]


def test_a_link_in_the_cache_is_not_followed(tmp_path: Path) -> None:
    planted(tmp_path)
    file = cached(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    assert names(discovery(tmp_path).resources()) == ["pods"]
    assert b"planted" in elsewhere.read_bytes() and not file.is_symlink()
