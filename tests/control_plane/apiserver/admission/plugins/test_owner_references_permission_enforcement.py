"""OwnerReferencesPermissionEnforcement: what it sets, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.control_plane.apiserver.admission.world import Object, World
from tests.support import run


def owned(*references: Object) -> Object:
    return {"metadata": {"name": "c", "ownerReferences": list(references)}}


OWNER = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "uid": "u"}


BLOCKING = {**OWNER, "blockOwnerDeletion": True}


FORBIDDEN = 'configmaps "c" is forbidden: '


@pytest.mark.parametrize(
    ("new", "old", "allowed", "message"),
    [
        (owned(OWNER), None, (), ""),
        (owned(OWNER), owned(OWNER), (), ""),
        (owned(), owned(OWNER), (), "cannot set an ownerRef on a resource you can't delete: , <nil>"),
        (owned(), owned(OWNER), [("delete", "configmaps", "c")], ""),
        (
            owned(BLOCKING),
            None,
            (),
            "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>",
        ),
        (owned(BLOCKING), None, [("update", "deployments/finalizers", "d")], ""),
        (owned(BLOCKING), None, [("update", "*/finalizers", "*")], ""),
        (
            owned(BLOCKING),
            owned(OWNER),
            [("delete", "configmaps", "c")],
            "cannot set blockOwnerDeletion if an",
        ),
        (owned({**BLOCKING, "name": "e"}), owned(BLOCKING), [("delete", "configmaps", "c")], ""),
        (
            owned({**BLOCKING, "kind": "Nothing"}),
            None,
            (),
            "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion apps/v1 Kind "
            'Nothing: no matches for kind "Nothing" in version "apps/v1"',
        ),
    ],
)
def test_owner_references_need_permission(
    new: Object, old: Object | None, allowed: Any, message: str
) -> None:
    async def test() -> None:
        async with World() as world:
            world.permissions.allowed = set(allowed)
            problem = await world.refusal(
                world.chain("OwnerReferencesPermissionEnforcement"), "configmaps", new, old
            )
            assert problem.startswith(FORBIDDEN + message) if message else not problem

    run(test())


def test_the_status_of_pods_changes_no_owners() -> None:
    async def test() -> None:
        async with World() as world:
            chain = world.chain("OwnerReferencesPermissionEnforcement")
            assert not await world.refusal(chain, "pods", owned(BLOCKING), owned(), subresource="status")
            assert not world.permissions.asked

    run(test())
