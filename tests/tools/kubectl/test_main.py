"""What a fast start depends on, and flags that every command has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pybernetes.tools.kubectl.commands import version
from tests.tools.kubectl.run_kubectl import run

ROOT = Path(__file__).resolve().parents[3]


def test_get_imports_nothing_heavy() -> None:
    code = (
        "import sys; import pybernetes.tools.kubectl.main as m; import pybernetes.tools.kubectl.commands.get; "
        "print([name for name in ('typing', 'dataclasses', 'asyncio', 'yaml', 'orjson', 'cryptography', 'argparse', "
        "'http.client', 'inspect', 'email') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_what_describes_nodes_does_not_load_inspect() -> None:
    code = "import sys; import pybernetes.api.quantity, pybernetes.api.resource_list; print('inspect' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60
    )
    assert (done.stdout.strip(), done.stderr) == ("False", "")


def test_a_bare_dry_run_makes_nothing() -> None:
    code, out, err = run("create", "deployment", "d", "--image=x", "--dry-run")
    assert (code, out) == (0, "deployment.apps/d created (dry run)\n")
    assert err.endswith("] --dry-run is deprecated and can be replaced with --dry-run=client.\n")


def test_what_nobody_thought_of_is_told_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> None:
        raise KeyError("\x1b[2J")

    monkeypatch.setattr(version, "run", broken)
    code, out, err = run("version")
    assert (code, out) == (1, "")
    assert err.startswith("error: kubectl cannot go on: KeyError: ") and "\x1b" not in err
    assert "Traceback" not in err
    code, _, err = run("version", "-v=4")
    assert code == 1 and err.startswith("Traceback")


def test_why_a_server_is_not_reached_is_told_with_its_request() -> None:
    line = ("get", "--raw", "/healthz", "-s", "http://127.0.0.1:1")
    refused = (
        "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?\n"
    )
    assert run(*line) == (1, "", refused)
    code, _, err = run(*line, "-v=4")
    first, rest = err.split("\n", 1)
    assert (code, rest) == (1, refused)
    reason = "dial tcp 127.0.0.1:1: connect: connection refused"
    assert first.endswith(f"] Connection error: Get http://127.0.0.1:1/healthz: {reason}")


def test_small_changes_tell_of_a_broken_file_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: [\n")
    code, out, err = run("rollout", "pause", "-R", "-f", str(tmp_path))
    assert (code, out) == (1, "") and err.startswith("error parsing ")
