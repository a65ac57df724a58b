"""Running checks: what is found, what is ignored."""

from __future__ import annotations

import pytest

from pybernetes.tools.kubeadm.checks.check import Findings, ignored_names, problem, run
from pybernetes.tools.kubeadm.errors import KubeadmError


class Failing:
    name = "Port-1"

    async def check(self) -> Findings:
        return problem("Port 1 is in use")


async def test_checks(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KubeadmError, match="preflight checks failed"):
        await run([Failing()], frozenset())
    assert "\t[ERROR Port-1]: Port 1 is in use\n[preflight] If you know" in capsys.readouterr().err
    await run([Failing()], ignored_names(["port-1"]))
    await run([Failing()], ignored_names(["all"]))
    assert capsys.readouterr().err.count("[WARNING Port-1]") == 2
    with pytest.raises(KubeadmError, match="don't specify individual checks"):
        ignored_names(["all", "Swap"])
