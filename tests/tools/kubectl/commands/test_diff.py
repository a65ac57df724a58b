"""The files that diff compares."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.tools.kubectl.commands.diff import _write, program
from pybernetes.tools.kubectl.resources.discovery import Resource
from pybernetes.tools.kubectl.resources.info import Info

OBJECT: dict[str, Any] = {"kind": "ConfigMap", "metadata": {"name": "a", "managedFields": [{"manager": "x"}]}}


@pytest.mark.parametrize(
    ("pruned", "before", "files", "managed"),
    [
        (False, None, ["live", "merged"], []),  # what is new has an empty file before
        (False, OBJECT, ["live", "merged"], []),
        (True, OBJECT, ["live"], ["live"]),
    ],
)
def test_files(pruned: bool, before: Any, files: list[str], managed: list[str], tmp_path: Path) -> None:
    context: Any = SimpleNamespace(flags=SimpleNamespace(show_managed_fields=False))
    info = Info(Resource("", "v1", "configmaps", "configmap", "ConfigMap", True), "ns", "a", OBJECT)
    folders = [tmp_path / name for name in ("live", "merged")]
    for folder in folders:
        folder.mkdir()
    after = None if pruned else OBJECT
    _write(context, info, (str(folders[0]), before), (str(folders[1]), after), pruned=pruned)
    texts = {path.parent.name: path.read_text() for path in tmp_path.rglob("v1.ConfigMap.ns.a")}
    assert sorted(texts) == files
    assert [name for name in texts if "managedFields" in texts[name]] == managed
    assert (texts["live"] == "") == (before is None)


@pytest.mark.parametrize(("shown", "live", "merged"), [(False, "null\n", "***"), (True, "", "Yg==")])
def test_a_new_secret(shown: bool, live: str, merged: str, tmp_path: Path) -> None:
    context: Any = SimpleNamespace(flags=SimpleNamespace(show_managed_fields=False, show_secrets=shown))
    info = Info(Resource("", "v1", "secrets", "secret", "Secret", True), "ns", "a", {})
    after = {"kind": "Secret", "metadata": {"name": "a"}, "data": {"a": "Yg=="}}
    for name in ("live", "merged"):
        (tmp_path / name).mkdir()
    _write(context, info, (str(tmp_path / "live"), None), (str(tmp_path / "merged"), after))
    assert (tmp_path / "live" / "v1.Secret.ns.a").read_text() == live
    assert f"a: {merged}" in (tmp_path / "merged" / "v1.Secret.ns.a").read_text().replace("'", "")


@pytest.mark.parametrize(
    ("wanted", "command"),
    [
        ("", ["diff", "-u", "-N", "live", "merged"]),
        ("cmp", ["cmp", "live", "merged"]),
        ("diff --color=never -u", ["diff", "live", "merged", "--color=never", "-u"]),
        ("sh -c 'rm x' $(y)", ["sh", "live", "merged", "-c"]),
    ],
)
def test_the_program_that_compares(wanted: str, command: list[str]) -> None:
    assert program({"KUBECTL_EXTERNAL_DIFF": wanted}, "live", "merged") == command
