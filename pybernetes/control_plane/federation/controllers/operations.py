"""What is done to objects in members, and what became of it in kubefed's words."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import AlreadyExists, Conflict, NotFound, StatusError, TooManyRequests
from pybernetes.client.refs import Ref
from pybernetes.control_plane.federation import desired as desires
from pybernetes.control_plane.federation import member_objects as objects
from pybernetes.control_plane.federation import overrides, propagation
from pybernetes.control_plane.federation.deletion import USUAL, Deletion
from pybernetes.control_plane.federation.kinds import MANAGED
from pybernetes.control_plane.federation.members.member import Member
from pybernetes.control_plane.federation.sync_plan import FAILED, TIMED_OUT, Action
from pybernetes.control_plane.federation.type_config import TypeConfig
from pybernetes.runtime.cache import split_key

_SECONDS = 30.0  # after which an operation has failed
_SERVER_ERRORS = 500


class Outcome(NamedTuple):
    """What became of an operation: a status if it failed and why, else the object as the member answered it."""

    status: str = propagation.OK
    message: str = ""
    answer: Object | None = None


class Operations:
    """Carries out operations on the objects of one kind."""

    def __init__(self, config: TypeConfig, adopts: bool) -> None:
        self._config, self._adopts = config, adopts

    async def perform(
        self, action: Action, member: Member, obj: Object | None, key: str, current: Object | None,
        operations: overrides.Operations = (), host_uid: str = "", deletion: Deletion = USUAL,
    ) -> Outcome:  # fmt: skip
        """Carry out an operation; ``key`` is that of the object in the member."""
        assert member.client is not None
        client = member.client
        work: Callable[[], Awaitable[Outcome]]
        if action is Action.CREATE and obj is not None:
            made = obj
            work = lambda: self._create(client, made, operations, host_uid)  # noqa: E731
        elif action is Action.UPDATE and obj is not None and current is not None:
            made, now = obj, current
            work = lambda: self._update(client, made, operations, now)  # noqa: E731
        elif current is not None:
            now = current
            work = (
                (lambda: self._delete(client, key, now, deletion))
                if action is Action.DELETE
                else (lambda: self._release(client, key, now))
            )
        else:
            return Outcome()
        return await self._guarded(action, member, work)

    async def _guarded(
        self, action: Action, member: Member, work: Callable[[], Awaitable[Outcome]]
    ) -> Outcome:
        """Do something, a few at a time for each member; errors become outcomes, and those of the member its back-off."""
        try:
            async with member.turns, asyncio.timeout(_SECONDS):
                outcome = await work()
            writes = action in (Action.CREATE, Action.UPDATE) and not outcome.status
            if writes and not _is_object(outcome.answer):
                member.back_off.failed()
                return Outcome(FAILED[action], "the cluster's answer is no object")
            member.back_off.succeeded()
            return outcome
        except TimeoutError as error:
            member.back_off.failed()
            return Outcome(TIMED_OUT[action], str(error) or f"no answer within {_SECONDS:.0f} s")
        except StatusError as error:
            if error.code >= _SERVER_ERRORS or isinstance(error, TooManyRequests):
                member.back_off.failed()
            return Outcome(FAILED[action], str(error))
        except (
            OSError,
            TypeError,
            KeyError,
            AttributeError,
            ValueError,
        ) as error:  # whatever a member answers
            member.back_off.failed()
            return Outcome(FAILED[action], str(error) or type(error).__name__)

    async def _create(
        self, client: Client, obj: Object, operations: overrides.Operations, host_uid: str
    ) -> Outcome:
        ref_and_object = self._made(obj, operations)
        if isinstance(ref_and_object, Outcome):
            return ref_and_object
        ref, made = ref_and_object
        meta = made["metadata"]
        try:
            return Outcome(answer=await client.create(ref, made, meta.get("namespace", "")))
        except AlreadyExists:
            pass
        try:
            there = await client.get(ref, meta["name"], meta.get("namespace", ""))
        except StatusError as error:
            return Outcome(propagation.RETRIEVAL_FAILED, str(error))
        refused = self._refuses(there, host_uid)
        return refused or await self._update(client, obj, operations, objects.remembered(there))

    def _refuses(self, there: Object, host_uid: str) -> Outcome | None:
        """Return why an object that is there already is not taken over, if it is not."""
        if objects.is_kept_out(there):
            return Outcome(
                propagation.MANAGED_LABEL_FALSE,
                f"Unable to manage the object which has label {MANAGED}: false",
            )
        if objects.is_managed(there):
            return None
        if objects.is_being_deleted(there):
            return Outcome(propagation.ALREADY_EXISTS, "Resource pre-exist in cluster, and is being deleted")
        if objects.has_local_owner(there):
            return Outcome(
                propagation.ALREADY_EXISTS, "Resource pre-exist in cluster, and has an owner there"
            )
        is_host = bool(host_uid) and there["metadata"].get("uid") == host_uid
        if not self._adopts and not is_host:
            return Outcome(propagation.ALREADY_EXISTS, "Resource pre-exist in cluster")
        return None

    async def _update(
        self, client: Client, obj: Object, operations: overrides.Operations, current: Object
    ) -> Outcome:
        ref_and_object = self._made(obj, operations, current)
        if isinstance(ref_and_object, Outcome):
            return ref_and_object
        return Outcome(answer=await client.update(*ref_and_object))

    def _made(
        self, obj: Object, operations: overrides.Operations, current: Object | None = None
    ) -> tuple[Ref, Object] | Outcome:
        """Return what a cluster is to have, or why that cannot be: which is nothing that the cluster did."""
        try:
            made = desires.desired(obj, self._config, operations, current)
            return desires.ref_of(made, self._config.target), made
        except ValueError as error:
            return Outcome(propagation.APPLY_OVERRIDES_FAILED, str(error))
        except (TypeError, AttributeError, KeyError) as error:  # whatever somebody put into a template
            return Outcome(propagation.COMPUTE_RESOURCE_FAILED, f"the template makes no object: {error}")

    async def _delete(self, client: Client, key: str, current: Object, deletion: Deletion) -> Outcome:
        """Delete an object, and no other of the same name; nor one that is not ours any more."""
        namespace, name = split_key(key)
        meta = current["metadata"]
        try:
            await client.delete(
                self._config.target, name, namespace, uid=meta["uid"], resource_version=meta["resourceVersion"],
                propagation=deletion.propagation, grace=deletion.grace,
            )  # fmt: skip
        except NotFound:
            pass
        except Conflict as error:  # it has changed: the next look decides
            return Outcome(propagation.DELETION_FAILED, str(error))
        return Outcome()

    async def _release(self, client: Client, key: str, current: Object) -> Outcome:
        namespace, name = split_key(key)
        meta = current["metadata"]
        patch = {
            "metadata": {
                "uid": meta["uid"],
                "resourceVersion": meta["resourceVersion"],
                "labels": {MANAGED: None},
            }
        }
        try:
            await client.patch(self._config.target, name, patch, namespace)
        except NotFound:
            pass
        return Outcome()


def _is_object(answer: object) -> bool:
    """Return whether a member answered with an object that has a name and a version."""
    meta = answer.get("metadata") if isinstance(answer, dict) else None
    return isinstance(meta, dict) and all(
        isinstance(meta.get(name), str) for name in ("name", "uid", "resourceVersion")
    )
