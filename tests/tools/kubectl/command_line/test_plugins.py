"""Plugins: which program a command line means."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pybernetes.tools.kubectl.command_line import plugins
from pybernetes.tools.kubectl.errors import Verbatim

MAIN = Path(__file__).parents[4] / "pybernetes" / "tools" / "kubectl" / "__main__.py"


def kubectl(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": str(folder), "HOME": str(folder)}
    line = [sys.executable, "-P", str(MAIN), *arguments]
    return subprocess.run(line, env=environment, capture_output=True, text=True, check=False)


def plugin(folder: Path, name: str, mode: int = 0o755) -> None:
    path = folder / f"kubectl-{name}"
    path.write_text(f'#!/bin/sh\necho "{name}: $*"\n[ -x "$KUBECTL_PATH" ]\n')
    path.chmod(mode)


def test_the_longest_name_runs(tmp_path: Path) -> None:
    for name in ("foo", "foo-bar_baz", "create-net", "get"):
        plugin(tmp_path, name)
    assert kubectl(tmp_path, "foo", "a", "--b").stdout == "foo: a --b\n"
    assert kubectl(tmp_path, "foo", "bar-baz", "x").stdout == "foo-bar_baz: x\n"
    assert kubectl(tmp_path, "create", "net", "x").stdout == "create-net: x\n"
    assert kubectl(tmp_path, "get", "--help").stdout.startswith("Display")


def test_flags_stand_behind_the_name() -> None:
    with pytest.raises(Verbatim, match="flags cannot be placed before plugin name: -n"):
        plugins.run(["-n", "foo"])


def test_plugins_that_can_never_run_are_listed_with_the_reason(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    plugin(tmp_path, "foo")
    plugin(tmp_path, "version")
    plugin(tmp_path, "still", 0o644)
    plugin(other, "foo")
    done = kubectl(Path(f"{tmp_path}:{other}"), "plugin", "list")
    assert done.returncode == 1 and done.stdout.count("kubectl-foo") == 2
    assert 'kubectl-version overwrites existing command: "kubectl version"' in done.stderr
    assert f"{tmp_path}/kubectl-still identified as a kubectl plugin, but it is not executable" in done.stderr
    assert (
        f"{other}/kubectl-foo is overshadowed by a similarly named plugin: {tmp_path}/kubectl-foo"
        in done.stderr
    )
    assert done.stderr.endswith("error: 3 plugin warnings were found\n")
