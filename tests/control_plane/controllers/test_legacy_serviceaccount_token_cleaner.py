"""Tokens that nobody uses are marked and deleted."""

from __future__ import annotations

import time

import pytest

from pybernetes.api.resource import Object
from pybernetes.client.refs import SECRETS, SERVICE_ACCOUNTS
from pybernetes.control_plane.controllers import (
    legacy_serviceaccount_token_cleaner,
)
from pybernetes.control_plane.controllers.legacy_serviceaccount_token_cleaner import (
    INVALID_SINCE,
    LAST_USED,
    decide,
    mounted_secrets,
)
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import ManualClock
from tests.cluster import Cluster
from tests.control_plane.controllers._tokens.secrets import make_account, make_token
from tests.control_plane.controllers.managers import controllers, get_or_none
from tests.support import eventually


def legacy(created: str = "2024-01-01T00:00:00Z", **labels: str) -> Object:
    return {
        "metadata": {
            "name": "token", "namespace": "default", "creationTimestamp": created, "labels": labels,
            "annotations": {"kubernetes.io/service-account.name": "robot"},
        }
    }  # fmt: skip


ROBOT = {"metadata": {"name": "robot", "uid": "1"}, "secrets": [{"name": "token"}]}


@pytest.mark.parametrize(
    ("secret", "account", "mounted", "expected"),
    [
        (legacy(), ROBOT, False, "mark"),
        (legacy(**{INVALID_SINCE: "2025-06-01"}), ROBOT, False, "keep"),
        (legacy(**{INVALID_SINCE: "2024-06-01"}), ROBOT, False, "delete"),
        (legacy(**{INVALID_SINCE: "nonsense"}), ROBOT, False, "mark"),
        (legacy(**{LAST_USED: "2025-12-01"}), ROBOT, False, "keep"),
        (legacy(**{LAST_USED: "2024-12-01"}), ROBOT, False, "mark"),
        (legacy(**{LAST_USED: "nonsense"}), ROBOT, False, "keep"),
        (legacy("2025-06-01T00:00:00Z"), ROBOT, False, "keep"),
        (legacy(), ROBOT, True, "keep"),
        (legacy(), {**ROBOT, "secrets": []}, False, "keep"),
        (legacy(), None, False, "keep"),
    ],
)
def test_old_tokens(secret: Object, account: Object | None, mounted: bool, expected: str) -> None:
    now = rfc3339.parse("2026-01-01T00:00:00Z")
    assert decide(secret, account, mounted, now, 365 * 86400.0) == expected


def test_mounted_secrets() -> None:
    spec = {
        "volumes": [
            {"secret": {"secretName": "a"}},
            {"projected": {"sources": [{"secret": {"name": "b"}}, {"configMap": {"name": "x"}}]}},
            {"configMap": {"name": "x"}},
        ],
        "imagePullSecrets": [{"name": "c"}],
        "containers": [{"envFrom": [{"secretRef": {"name": "d"}}], "env": [{"name": "v", "value": "x"}]}],
        "initContainers": [{"env": [{"valueFrom": {"secretKeyRef": {"name": "e"}}}]}],
    }
    assert mounted_secrets([{"spec": spec}]) == {"a", "b", "c", "d", "e"}


async def test_tokens_that_nobody_uses_are_marked_and_deleted() -> None:
    async with Cluster() as cluster:
        client, clock = cluster.client, ManualClock(time.time())
        await make_account(client, "robot")
        await make_token(client, "token", "robot")
        await client.patch(SERVICE_ACCOUNTS, "robot", {"secrets": [{"name": "token"}]}, "default")
        cleaner = legacy_serviceaccount_token_cleaner.CONTROLLER
        period = {"legacy_service_account_token_clean_up_period": 3 * 86400.0}
        async with controllers(client, cleaner, clock=clock, **period) as manager:
            await eventually(lambda: all(informer.synced for informer in manager.runtime.informers))

            async def state() -> str:
                secret = await get_or_none(client.get(SECRETS, "token", "default"))
                if secret is None:
                    return "gone"
                return "marked" if INVALID_SINCE in secret["metadata"].get("labels", {}) else "there"

            async def becomes(expected: str) -> None:
                async def so() -> bool:
                    if await state() != expected:
                        await clock.advance(86400)
                    return await state() == expected

                await eventually(so)

            assert await state() == "there"
            await becomes("marked")
            await becomes("gone")
