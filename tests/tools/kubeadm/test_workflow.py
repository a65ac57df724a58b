"""Phases: their order, those that are skipped, and what fails."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.tools.kubeadm import workflow
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.phases.init import PHASES
from pybernetes.tools.kubeadm.workflow import Phase


async def test_phases_run_in_order_without_the_skipped() -> None:
    ran: list[str] = []

    def step(name: str) -> Any:
        async def work(data: object) -> None:
            ran.append(name)

        return work

    inner = (Phase("x", "", step("b/x")), Phase("y", "", step("b/y")))
    phases = (Phase("a", "", step("a")), Phase("b", "", step("b"), inner), Phase("c", "", step("c")))
    await workflow.run(phases, None, ["a", "b/x"])
    assert ran == ["b", "b/y", "c"]
    ran.clear()
    await workflow.run_one(phases, ["b"], None)
    await workflow.run_one(phases, ["b", "y"], None)
    assert ran == ["b", "b/x", "b/y", "b/y"]  # what stands above a phase is not run with it
    with pytest.raises(KubeadmError, match="invalid phase name: d"):
        await workflow.run(phases, None, ["d"])


async def test_what_fails_names_its_phase() -> None:
    async def fail(data: object) -> None:
        raise KubeadmError("no")

    phases = (Phase("a", "", None, (Phase("x", "", fail),)),)
    with pytest.raises(KubeadmError, match=r"\Aerror execution phase a/x: no\Z"):
        await workflow.run(phases, None)


async def test_an_optional_phase_runs_only_if_it_is_named() -> None:
    ran: list[str] = []

    async def work(data: object) -> None:
        ran.append("ran")

    phases = (Phase("a", "", None, (Phase("b", "", work, optional=True),)),)
    await workflow.run(phases, None)
    await workflow.run_one(phases, ["a"], None)
    assert ran == []
    await workflow.run_one(phases, ["a", "b"], None)
    assert ran == ["ran"]


def test_the_phases_of_init() -> None:
    assert [phase.name for phase in PHASES] == [
        "preflight", "certs", "kubeconfig", "etcd", "control-plane", "kubelet-start", "wait-control-plane", "upload-config",
        "upload-certs", "mark-control-plane", "bootstrap-token", "kubelet-finalize", "addon", "show-join-command",
    ]  # fmt: skip
