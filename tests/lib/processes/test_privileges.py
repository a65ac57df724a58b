"""Rights that a process loses before it becomes another program."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from pybernetes.lib.processes import privileges
from tests.support import require_root

_NET_ADMIN, _SYS_ADMIN = 12, 21


def _status(keep: set[str]) -> dict[str, str]:
    surplus = privileges.surplus(keep)
    done = subprocess.run(
        ["cat", "/proc/self/status"],
        capture_output=True,
        text=True,
        preexec_fn=lambda: privileges.drop(surplus),
    )
    return _lines(done.stdout)


def _lines(text: str) -> dict[str, str]:
    return {line.partition(":\t")[0]: line.partition(":\t")[2] for line in text.splitlines()}


def test_what_is_executed_has_what_was_kept_and_gets_no_more() -> None:
    status = _status({"NET_ADMIN"})
    assert status["NoNewPrivs"] == "1"
    had = int(_lines(Path("/proc/self/status").read_text())["CapEff"], 16)
    assert int(status["CapEff"], 16) == had & 1 << _NET_ADMIN
    if os.geteuid() == 0:
        assert int(status["CapBnd"], 16) & ~(1 << _NET_ADMIN) == 0


def test_the_numbers_are_those_of_the_kernel() -> None:
    everything = privileges.surplus(())
    assert everything[0] == 0 and {_NET_ADMIN, _SYS_ADMIN} <= set(everything)
    assert set(everything) - set(privileges.surplus({"NET_ADMIN", "SYS_ADMIN"})) == {_NET_ADMIN, _SYS_ADMIN}


def test_another_user_has_the_capabilities_that_were_kept_and_its_own_files() -> None:
    require_root()
    kept = privileges.numbers(["DAC_READ_SEARCH"])
    surplus = privileges.surplus(["DAC_READ_SEARCH"])

    def become() -> None:
        privileges.drop(surplus)
        privileges.become(1_900_000_001, kept)

    done = subprocess.run(
        ["sh", "-c", "cat /proc/self/status; cat /etc/shadow >/dev/null && echo read; touch /etc/x-walls || echo denied"],
        capture_output=True, text=True, preexec_fn=become, check=False,
    )  # fmt: skip
    status = _lines(done.stdout)
    assert set(status["Uid"].split()) == set(status["Gid"].split()) == {"1900000001"}
    assert status["Groups"].strip() == "" and status["NoNewPrivs"] == "1"
    assert {int(status[name], 16) for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb")} == {1 << 2}
    assert done.stdout.splitlines()[-2:] == ["read", "denied"]
