"""Operations on a member that answers whatever it likes."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from pybernetes.client.client import Client
from pybernetes.client.refs import CONFIG_MAPS
from pybernetes.control_plane.federation.controllers.operations import Operations
from pybernetes.control_plane.federation.deletion import USUAL, Deletion
from pybernetes.control_plane.federation.members.member import Member
from pybernetes.control_plane.federation.sync_plan import Action
from pybernetes.control_plane.federation.type_config import for_target
from pybernetes.lib.clock import Clock

OBJECT = {"metadata": {"name": "x", "namespace": "n"}, "spec": {"template": {"data": {}}}}
CURRENT = {"metadata": {"name": "x", "namespace": "n", "uid": "u", "resourceVersion": "1"}, "content": "c"}


class Answers:
    """A transport that has one answer to everything."""

    def __init__(self, status: int, body: Any) -> None:
        self.status, self.body = status, body
        self.calls: list[str] = []
        self.bodies: list[bytes] = []

    async def send(
        self, method: str, path: str, query: str = "", body: bytes = b"", *rest: Any
    ) -> tuple[int, Any]:
        self.calls.append(f"{method} {path}")
        self.bodies.append(body)
        if isinstance(self.body, Exception):
            raise self.body
        return self.status, self.body

    async def close(self) -> None:
        pass


async def perform(
    action: Action, status: int, body: Any, template: Any = None, **more: Any
) -> tuple[str, Member, Answers]:
    transport = Answers(status, body)
    member = Member("one", Client(transport), Clock())  # type: ignore[arg-type]
    try:
        obj = OBJECT if template is None else {**OBJECT, "spec": {"template": template}}
        outcome = await Operations(for_target(CONFIG_MAPS), True).perform(
            action, member, obj, "n/x", CURRENT, **more
        )
    finally:
        await member.close()
    return outcome.status, member, transport


@pytest.mark.parametrize(
    "body",
    [None, [], "text", 5, {}, {"metadata": None}, {"metadata": {"name": "x"}}, {"metadata": {"name": 1}}],
)
@pytest.mark.parametrize(
    ("action", "status"), [(Action.CREATE, "CreationFailed"), (Action.UPDATE, "UpdateFailed")]
)
async def test_answers_that_are_no_objects(action: Action, status: str, body: Any) -> None:
    outcome, member, _ = await perform(action, 200, body)
    assert outcome == status and member.back_off.seconds > 0


@pytest.mark.parametrize(
    ("status", "body", "backs_off"),
    [
        (500, "broken", True),
        (429, {}, True),
        (403, {}, False),
        (422, {}, False),
        (200, ConnectionError("gone"), True),
        (200, ValueError("odd"), True),
    ],
)
async def test_a_member_that_is_ill_is_left_alone_and_one_that_refuses_is_not(
    status: int, body: Any, backs_off: bool
) -> None:
    outcome, member, _ = await perform(Action.UPDATE, status, body)
    assert outcome == "UpdateFailed" and bool(member.back_off.seconds) is backs_off


async def test_what_is_gone_is_deleted_and_no_path_is_another() -> None:
    outcome, _, transport = await perform(
        Action.DELETE, 404, {"kind": "Status", "reason": "NotFound", "code": 404}
    )
    assert outcome == "" and transport.calls == ["DELETE /api/v1/namespaces/n/configmaps/x"]
    outcome, _, transport = await perform(
        Action.CREATE, 200, {}, {"apiVersion": "v1/namespaces/kube-system/secrets"}
    )
    assert outcome == "ApplyOverridesFailed" and transport.calls == []


@pytest.mark.parametrize("action", [Action.CREATE, Action.UPDATE])
@pytest.mark.parametrize(
    ("template", "operations", "status"),
    [
        ({"metadata": {"labels": "text"}}, (), "ComputeResourceFailed"),
        ({"metadata": {"labels": ["a"]}}, (), "ComputeResourceFailed"),
        ({}, [{"path": "/metadata/labels", "op": "add", "value": "text"}], "ComputeResourceFailed"),
        ({}, [{"path": "/data/none"}], "ApplyOverridesFailed"),
        ({}, [{"path": "/apiVersion", "value": ["v1"]}], "ApplyOverridesFailed"),
        ({}, [{"path": "/apiVersion", "value": "other.example.com/v1"}], "ApplyOverridesFailed"),
    ],
)
async def test_a_cluster_is_not_blamed_for_a_template(
    action: Action, template: Any, operations: Any, status: str
) -> None:
    outcome, member, transport = await perform(action, 200, {}, template, operations=operations)
    assert outcome == status
    assert transport.calls == [] and not member.back_off.seconds


async def test_a_deletion_has_the_options_that_somebody_gave() -> None:
    for deletion, expected in (
        (USUAL, {"propagationPolicy": "Background"}),
        (Deletion("Orphan", 5), {"propagationPolicy": "Orphan", "gracePeriodSeconds": 5}),
    ):
        _, _, transport = await perform(Action.DELETE, 200, {}, deletion=deletion)
        assert len(transport.bodies) == 1
        options = orjson.loads(transport.bodies[0])
        assert {name: options[name] for name in expected} == expected
        assert options["preconditions"] == {"uid": "u", "resourceVersion": "1"}
        assert expected.keys() == options.keys() & {"propagationPolicy", "gracePeriodSeconds"}
