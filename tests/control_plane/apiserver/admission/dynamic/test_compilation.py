"""Expressions of policies and webhooks are compiled beside the event loop, once, when they are first needed."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from pybernetes.api.cel import admission
from pybernetes.api.cel.engine import Environment, Program
from pybernetes.api.cel.runtime import Failure
from pybernetes.api.registry import builtin
from pybernetes.client.refs import VALIDATING_ADMISSION_POLICIES
from pybernetes.control_plane.apiserver.admission.dynamic.evaluation import _Lazy
from pybernetes.control_plane.apiserver.admission.dynamic.match_conditions import Conditions
from pybernetes.control_plane.apiserver.admission.plugins.mutating_admission_policy import Mutating
from pybernetes.control_plane.apiserver.admission.plugins.validating_admission_policy import Validating
from pybernetes.control_plane.apiserver.storage.create import validating
from pybernetes.control_plane.controllers import validatingadmissionpolicy_status
from tests.cluster import Cluster
from tests.control_plane.controllers.managers import controllers
from tests.support import eventually

EXPRESSION = {"expression": "object == null"}
MUTATION = {"patchType": "JSONPatch", "jsonPatch": {"expression": "[]"}}


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the threads that expressions were compiled on."""
    threads: list[int] = []
    compile_ = Environment.compile

    def noting(self: Environment, source: str) -> Program:
        threads.append(threading.get_ident())
        return compile_(self, source)

    monkeypatch.setattr(Environment, "compile", noting)
    return threads


@pytest.mark.parametrize(
    ("make", "spec"),
    [(Validating, {"validations": [EXPRESSION] * 20}), (Mutating, {"mutations": [MUTATION] * 20})],
)
async def test_policies(make: Any, spec: Any, compiled: list[int]) -> None:
    """A policy of thousands of expressions held everybody for half a second when it was first asked."""
    policy = make(
        {"metadata": {"name": "p"}, "spec": {"variables": [{"name": "a", **EXPRESSION}], **spec}}, []
    )
    assert not compiled
    await asyncio.gather(policy.compiled(), policy.compiled())
    assert len(compiled) == 21 and threading.get_ident() not in compiled


async def test_conditions(compiled: list[int]) -> None:
    """Those of webhooks, too."""
    conditions = Conditions([EXPRESSION] * 3, ignores_failure=False)
    await conditions._compiled(None)
    await conditions._compiled(None)
    assert len(compiled) == 3 and threading.get_ident() not in compiled


def test_a_variable_that_fails_is_not_tried_again() -> None:
    """Each expression that named it tried again, down to the last of a long chain of variables."""
    runs = []

    class Evaluation:
        data: dict[str, Any] = {}

    variables = admission.Variables([{"name": "a", "expression": "1 / 0 > 0"}])
    program = variables.programs["a"]
    run = program.run

    def noting(data: Any) -> tuple[Any, int]:
        runs.append(1)
        return run(data)

    program.run = noting  # type: ignore[method-assign, assignment]
    lazy = _Lazy(variables, Evaluation())  # type: ignore[arg-type]
    for _ in range(2):
        with pytest.raises(Failure, match='composited variable "a" fails to evaluate'):
            lazy["a"]
    assert len(runs) == 1


@pytest.mark.parametrize(
    "plural",
    [
        "validatingadmissionpolicies", "mutatingadmissionpolicies", "validatingwebhookconfigurations",
        "mutatingwebhookconfigurations", "customresourcedefinitions",
    ],
)  # fmt: skip
async def test_writes(plural: str) -> None:
    """What is validated by compiling is validated beside the loop, however few bytes it has."""
    resource = next(resource for resource in builtin() if resource.plural == plural)
    threads: list[int] = []
    await validating(resource)(0, lambda: threads.append(threading.get_ident()))
    assert threads and threading.get_ident() not in threads


async def test_the_controller_that_checks_types(compiled: list[int]) -> None:
    """It compiles each expression for each kind that a policy is about: 1,000 of them took 0.4 s of everybody."""
    rule = {"operations": ["*"], "apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"]}
    spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": [EXPRESSION] * 3}
    async with Cluster() as cluster:
        await cluster.client.create(VALIDATING_ADMISSION_POLICIES, {"metadata": {"name": "p"}, "spec": spec})
        compiled.clear()
        async with controllers(cluster.client, validatingadmissionpolicy_status.CONTROLLER):
            await eventually(lambda: len(compiled) >= 3)
    assert threading.get_ident() not in compiled
