"""Carries the objects of one federated kind over to the members.

``reconcile`` looks at one object and decides what has to be done in each cluster (``sync_plan``). What has to be done is
started and not waited for, so that no cluster holds up another; when it is done the object is looked at again, and once
nothing is going on its status is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.client.refs import Kindlike
from pybernetes.control_plane.federation import deletion, desired, placement, propagation, sync_plan, versions
from pybernetes.control_plane.federation import member_objects as objects
from pybernetes.control_plane.federation.config import RAW_STATUS, Config
from pybernetes.control_plane.federation.controllers.host_writer import HostWriter
from pybernetes.control_plane.federation.controllers.ledger import Entry, Failure, Going, about
from pybernetes.control_plane.federation.controllers.operations import Operations
from pybernetes.control_plane.federation.controllers.sync_records import Records
from pybernetes.control_plane.federation.kinds import FINALIZER, ORPHAN
from pybernetes.control_plane.federation.members.back_off import BackOff
from pybernetes.control_plane.federation.members.member import Member, Watched
from pybernetes.control_plane.federation.members.members import Members
from pybernetes.control_plane.federation.sync_plan import Action, Applied, Decision, Seen
from pybernetes.control_plane.federation.type_config import TypeConfig
from pybernetes.runtime.background import BackgroundTasks
from pybernetes.runtime.cache import key_of, split_key
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime

_PATIENCE_SECONDS = 2.0  # after which an operation that goes on is shown in the status
_READING_SECONDS = 0.2  # after which a cache that is being filled is looked at again
_FIRST_DELAY, _LONGEST_DELAY = 0.5, 300.0  # between two tries that fail in the same way
_CLOSE_SECONDS = 1.0
# Returns the federated namespace of a name, if there is one.
FindNamespace = Callable[[str], Object | None]


def sync_controller(
    runtime: Runtime, config: TypeConfig, settings: Config, members: Members, find_namespace: FindNamespace,
    namespace: str = "",
) -> SyncController:  # fmt: skip
    """Return the controller of a federated kind, in one namespace if one is named."""
    selects: dict[Kindlike, Mapping[str, Any]] = {}
    if namespace:
        selects[config.federated] = {"namespace": namespace}
        selects[versions.record_kind(config.federated)] = {"namespace": namespace}
    made = SyncController.variant(
        name=config.federated.plural, kind=config.federated, selects=selects, workers=settings.workers
    )
    return made(runtime, config, settings, members, find_namespace, namespace)


class SyncController(Controller):
    """The loop over the objects of one federated kind."""

    longest_delay = _LONGEST_DELAY

    def __init__(
        self, runtime: Runtime, config: TypeConfig, settings: Config, members: Members, find_namespace: FindNamespace,
        namespace: str = "",
    ) -> None:  # fmt: skip
        super().__init__(runtime)
        self.config, self._settings, self._members = config, settings, members
        self._find_namespace = find_namespace
        self._entries: dict[str, Entry] = {}
        self._records = Records(self, config)
        self._operations = Operations(config, settings.adopts)
        self._collects = config.collects_status and settings.gates[RAW_STATUS]
        self._host = HostWriter(runtime, config)
        self._background = BackgroundTasks(self.name)
        # Told of the key of every object that changes in some member.
        self.followers: list[Callable[[str], None]] = []
        self.watched = Watched(
            config.target,
            self._member_changed,
            namespace if config.target.namespaced else "",
            on_error=lambda name: self.enqueue_all(),
        )
        members.watch(self.watched)
        self._end_listening = members.listen(self._cluster_changed)

    async def close(self) -> None:
        """Let go of the members' caches, and of what is on its way."""
        self._end_listening()
        await self._background.close(_CLOSE_SECONDS)
        await self._members.unwatch(self.watched)

    async def run(self) -> None:
        """Reconcile until cancelled, once it is known which clusters there are."""
        await self._members.wait_synced()
        await super().run()

    # -- changes elsewhere become keys -------------------------------------------------------------------

    def _cluster_changed(self, name: str) -> None:
        member = self._members.get(name)
        ready = member is not None and member.ready
        delay = self._settings.available_delay if ready else self._settings.unavailable_delay
        self.enqueue_all(delay)

    def _member_changed(self, cluster: str, old: Object | None, new: Object | None) -> None:
        key = desired.federated_key(self.config, key_of(new or old))  # type: ignore[arg-type]
        if old is None or new is None or self._matters(key, old, new):
            self.enqueue(key)
        for follower in self.followers:
            follower(key)

    def _matters(self, key: str, old: Object, new: Object) -> bool:
        if old[objects.CONTENT] != new[objects.CONTENT]:
            return True
        if objects.is_being_deleted(old) != objects.is_being_deleted(new):
            return True
        if self._collects:
            return old.get("status") != new.get("status")
        obj = self.objects.get(key)
        return bool(obj and (obj.get("spec") or {}).get("rollout"))

    def enqueue_all(self, after: float = 0.0) -> None:
        """Look again at every object, now or after some seconds."""
        for obj in self.objects:
            self.enqueue(key_of(obj), after)

    def enqueue_namespace(self, namespace: str) -> None:
        """Look again at everything in a namespace, whose placement has changed."""
        for key in list(self.objects.keys()):
            if split_key(key)[0] == namespace:
                self.enqueue(key)

    # -- one object --------------------------------------------------------------------------------------

    async def reconcile(self, key: str) -> float | None:
        """Make the members match one federated object."""
        obj = self.objects.get(key)
        entry = self._entries.setdefault(key, Entry())
        if obj is None:
            return await self._release_all(key, entry)
        if self.config.is_namespace and split_key(key)[0] != split_key(key)[1]:
            self._host.complain(
                entry, obj, "InvalidNamespace", "a federated namespace has the name of its namespace"
            )
            return None
        if "deletionTimestamp" in obj["metadata"]:
            return await self._delete(key, obj, entry)
        if FINALIZER not in (obj["metadata"].get("finalizers") or ()):
            await self._host.set_finalizer(obj, present=True)
        return await self._sync(key, obj, entry)

    async def _sync(self, key: str, obj: Object, entry: Entry) -> float | None:
        reason = ""
        try:
            selected = self._placement(obj)
            limit = sync_plan.wave_size(
                ((obj.get("spec") or {}).get("rollout") or {}).get("maxClusters"), len(selected)
            )
        except ValueError as error:
            self._host.complain(entry, obj, propagation.COMPUTE_PLACEMENT_FAILED, str(error))
            await self._host.write_status(obj, entry, propagation.COMPUTE_PLACEMENT_FAILED, {}, {})
            return None
        try:
            entry.read(obj)
        except ValueError as error:
            self._host.complain(entry, obj, propagation.APPLY_OVERRIDES_FAILED, str(error))
            failed = dict.fromkeys(selected, propagation.APPLY_OVERRIDES_FAILED)
            await self._host.write_status(obj, entry, "", failed, {})
            return None
        for name in desired.unsupported(obj):
            text = f"metadata.{name} cannot be set via template to avoid conflicting with controllers in member clusters"
            self._host.complain(entry, obj, f"{name.capitalize()}NotSupported", text)
        self._records.recall(key, obj, entry)
        host_uid = await self._host.namespace_uid(obj)
        decisions, seen = self._decide(key, obj, entry, selected, host_uid)
        if limit is not None:
            decisions = self._in_waves(entry, decisions, seen, limit)
        statuses, wait = self._start(key, obj, entry, decisions, seen, host_uid)
        if wait is not None and wait < 0:  # a cache is being filled: nothing can be said yet
            return -wait
        if entry.going and not self._is_late(entry):
            return _PATIENCE_SECONDS
        if self.config.target.namespaced and not self._settings.one_namespace:
            if self._find_namespace(obj["metadata"]["namespace"]) is None:
                reason = propagation.NAMESPACE_NOT_FEDERATED
        remote = {
            name: view.current["status"] for name, view in seen.items()
            if self._collects and name in selected and view.current is not None and propagation.is_shown(view.current.get("status"))
        }  # fmt: skip
        if not entry.going:
            await self._records.write(obj, entry, selected)
        await self._host.write_status(obj, entry, reason, statuses, remote)
        return wait

    def _placement(self, obj: Object) -> set[str]:
        clusters = self._members.labels()
        if not self.config.target.namespaced:
            return placement.of_object(obj, clusters)
        namespace = self._find_namespace(obj["metadata"]["namespace"])
        return placement.of_namespaced(obj, namespace, clusters, one_namespace=self._settings.one_namespace)

    def _decide(
        self, key: str, obj: Object, entry: Entry, selected: set[str], host_uid: str
    ) -> tuple[dict[str, Decision], dict[str, Seen]]:
        decisions: dict[str, Decision] = {}
        seen: dict[str, Seen] = {}
        target = desired.target_key(self.config, key)
        for member in self._members:
            view = seen[member.name] = self._look(member, target, entry)
            current = view.current
            wanted = entry.wanted(member.name) if member.name in selected else None
            if current is None and view.ready and view.readable:
                entry.forget(member.name)
            elif current is not None and wanted is not None and member.name not in entry.applied:
                # A new leader: what the record says was given still holds if the object has that version.
                if entry.versions.get(member.name) == objects.version(current):
                    entry.applied[member.name] = Applied(wanted, current[objects.CONTENT])
                    view = seen[member.name] = self._look(member, target, entry)
            keeps = bool(host_uid) and current is not None and current["metadata"].get("uid") == host_uid
            decision = decisions[member.name] = sync_plan.decide(view, wanted, keeps=keeps)
            if current is not None and decision.status == propagation.OK:
                entry.versions[member.name] = objects.version(current)
        return decisions, seen

    def _look(self, member: Member, target: str, entry: Entry) -> Seen:
        cache = member.cache(self.watched)
        if cache is None:
            return Seen(ready=False)
        readable = not cache.error or cache.is_reading
        return Seen(member.ready, readable, cache.get(target), entry.applied.get(member.name))

    def _in_waves(
        self, entry: Entry, decisions: dict[str, Decision], seen: dict[str, Seen], limit: int
    ) -> dict[str, Decision]:
        idle = {name: decision for name, decision in decisions.items() if name not in entry.going}
        unfinished = sum(1 for going in entry.going.values() if going.action is Action.UPDATE)
        for name, decision in idle.items():
            current = seen[name].current
            if decision.status == propagation.OK and current is not None and not objects.rolled_out(current):
                unfinished += 1
        return {**decisions, **sync_plan.in_waves(idle, unfinished, limit)}

    # -- operations --------------------------------------------------------------------------------------

    def _start(
        self, key: str, obj: Object | None, entry: Entry, decisions: dict[str, Decision], seen: dict[str, Seen],
        host_uid: str = "",
    ) -> tuple[dict[str, str], float | None]:  # fmt: skip
        """Start what was decided; return what the status says of each cluster, and when to look again.

        A negative time means that nothing can be said before then.
        """
        statuses: dict[str, str] = {}
        wait: float | None = None
        for name, decision in decisions.items():
            member = self._members.get(name)
            if name in entry.going:
                statuses[name] = sync_plan.TIMED_OUT[entry.going[name].action]
                continue
            action = decision.action
            if action is None or member is None or member.client is None:
                if decision.status is not None:
                    statuses[name] = decision.status
                    entry.failures.pop(name, None) if decision.status == propagation.OK else None
                continue
            cache = member.cache(self.watched)
            if cache is not None and cache.is_reading:
                return {}, -_READING_SECONDS
            purpose = about(action, entry.wanted(name) if obj is not None else None, seen[name].current)
            failure = entry.failures.get(name)
            pause = member.back_off.seconds
            if failure is not None and failure.about == purpose:
                pause = max(pause, failure.back_off.seconds)
            if pause:
                statuses[name] = failure.status if failure is not None else sync_plan.FAILED[action]
                wait = pause if wait is None else min(wait, pause)
                continue
            entry.going[name] = Going(action, self.clock.monotonic())
            statuses[name] = sync_plan.TIMED_OUT[action]
            self._background.start(
                self._perform(key, obj, entry, member, action, seen[name].current, purpose, host_uid)
            )
        return statuses, wait

    async def _perform(
        self, key: str, obj: Object | None, entry: Entry, member: Member, action: Action, current: Object | None,
        purpose: str, host_uid: str,
    ) -> None:  # fmt: skip
        name, target = member.name, desired.target_key(self.config, key)
        wanted = entry.wanted(name)
        try:
            outcome = await self._operations.perform(
                action, member, obj, target, current, entry.operations(name), host_uid, entry.deletion
            )
        finally:
            entry.going.pop(name, None)
            if not entry.going:
                self.enqueue(key)
        cache = member.cache(self.watched)
        if outcome.status:
            failure = entry.failures.get(name)
            if failure is None or failure.about != purpose:
                failure = Failure(outcome.status, purpose, BackOff(self.clock, _FIRST_DELAY, _LONGEST_DELAY))
            failure.status = outcome.status
            failure.back_off.failed()
            entry.failures[name] = failure
            if obj is not None:
                self._host.failed(obj, action, target, name, outcome.message)
            return
        entry.failures.pop(name, None)
        entry.updated = True
        if outcome.answer is not None and cache is not None:
            known = cache.wrote(outcome.answer)
            entry.applied[name] = Applied(wanted, known[objects.CONTENT])
            entry.versions[name] = objects.version(known)

    def _is_late(self, entry: Entry) -> bool:
        now = self.clock.monotonic()
        return all(now - going.since >= _PATIENCE_SECONDS for going in entry.going.values())

    # -- the end -----------------------------------------------------------------------------------------

    async def _delete(self, key: str, obj: Object, entry: Entry) -> float | None:
        """Remove an object from all clusters, or leave it to them, and let the federated one go."""
        if FINALIZER not in (obj["metadata"].get("finalizers") or ()):
            return None
        orphan = (obj["metadata"].get("annotations") or {}).get(ORPHAN) == "true"
        try:
            entry.deletion = deletion.of_object(obj)
        except ValueError as error:  # nothing is deleted in a way that nobody meant
            self._host.complain(entry, obj, "InvalidDeleteOption", str(error))
            return None
        host_uid = await self._host.namespace_uid(obj)
        target, wait, remaining = desired.target_key(self.config, key), None, len(entry.going)
        decisions: dict[str, Decision] = {}
        seen: dict[str, Seen] = {}
        given = self._records.clusters(key, entry)
        for member in self._members:
            view = seen[member.name] = self._look(member, target, entry)
            current = view.current
            keeps = orphan or (current is not None and current["metadata"].get("uid") == host_uid)
            decision = decisions[member.name] = sync_plan.decide(view, None, keeps=keeps)
            known = view.ready and view.readable
            if (decision.action or decision.status) or (not known and not orphan and member.name in given):
                remaining += 1
        if not remaining or (orphan and not any(decision.action for decision in decisions.values())):
            await self._host.set_finalizer(obj, present=False)
            return None
        _, wait = self._start(key, None, entry, decisions, seen)
        return abs(wait) if wait is not None else _PATIENCE_SECONDS

    async def _release_all(self, key: str, entry: Entry) -> float | None:
        """Let go of objects whose federated object is gone: they are nobody's business here any more."""
        decisions, seen = {}, {}
        target = desired.target_key(self.config, key)
        for member in self._members:
            view = seen[member.name] = self._look(member, target, entry)
            if view.ready and view.readable and view.current is not None:
                decisions[member.name] = sync_plan.decide(view, None, keeps=True)
        _, wait = self._start(key, None, entry, decisions, seen)
        if not entry.going and wait is None:
            self._entries.pop(key, None)
        return abs(wait) if wait is not None else None
