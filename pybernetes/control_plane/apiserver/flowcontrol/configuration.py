"""Follows the objects of flow control: makes levels and schemas of them, and notes which schemas dangle."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Any

from pybernetes.api.flowcontrol import GROUP
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.flowcontrol import defaults, flow_schema, priority_level
from pybernetes.control_plane.apiserver.flowcontrol.flow_schema import FlowSchema
from pybernetes.control_plane.apiserver.flowcontrol.priority_level import PriorityLevel
from pybernetes.control_plane.apiserver.storage.ensure import ensure
from pybernetes.control_plane.apiserver.storage.options import WriteOptions
from pybernetes.control_plane.apiserver.storage.own_status import modify_status
from pybernetes.control_plane.store.prefix_follower import PrefixFollower
from pybernetes.control_plane.store.protocol import Damaged, Record, StoreError

log = logging.getLogger(__name__)
LEVELS, SCHEMAS = "prioritylevelconfigurations", "flowschemas"
_OPTIONS = WriteOptions(manager="api-priority-and-fairness-config-consumer-v1")
_RETRY_SECONDS = 1.0


def dangling(schema: Object, level_exists: bool, now: str) -> Object | None:
    """Return the schema with its condition brought up to date, or None if it says so already."""
    level = go_format.quote(schema["spec"]["priorityLevelConfiguration"]["name"])
    begin = f"This FlowSchema references the PriorityLevelConfiguration object named {level} "
    said = (
        ("False", "Found", f"{begin}and it exists")
        if level_exists
        else ("True", "NotFound", f"{begin}but there is no such object")
    )
    conditions: list[dict[str, Any]] = list(schema.get("status", {}).get("conditions", ()))
    old = next((condition for condition in conditions if condition["type"] == "Dangling"), None)
    if old is not None and (old["status"], old.get("reason"), old.get("message")) == said:
        return None
    since = old["lastTransitionTime"] if old is not None and old["status"] == said[0] else now
    new = {
        "type": "Dangling",
        "status": said[0],
        "lastTransitionTime": since,
        "reason": said[1],
        "message": said[2],
    }
    kept = [condition for condition in conditions if condition is not old]
    return {**schema, "status": {**schema.get("status", {}), "conditions": [*kept, new]}}


class FlowControlConfiguration:
    """What the objects say at the moment. ``version`` grows with every change."""

    def __init__(self, context: ServerContext, seats: int) -> None:
        self._context, self._seats = context, seats
        self._kinds = {plural: context.kinds.find(GROUP, plural) for plural in (LEVELS, SCHEMAS)}
        self._objects: dict[str, dict[str, Object]] = {LEVELS: {}, SCHEMAS: {}}
        self._made: dict[str, tuple[Object, PriorityLevel]] = {}
        self.levels: dict[str, PriorityLevel] = {}
        self.schemas: list[FlowSchema] = []
        self.version = 0
        self._pending: dict[str, None] = {}
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Make the objects that have to exist, all in one go, and follow them."""
        missing = ((LEVELS, defaults.LEVELS), (SCHEMAS, defaults.SCHEMAS))
        await asyncio.gather(
            *(
                ensure(self._context, GROUP, plural, "", obj)
                for plural, specs in missing
                for obj in defaults.objects(specs)
            )
        )
        for plural in (LEVELS, SCHEMAS):
            PrefixFollower(self._context.store, self._kinds[plural].prefix, self._changed(plural)).start()

    async def close(self) -> None:
        """Stop writing."""
        if self._task is not None:
            self._task.cancel()

    def _changed(self, plural: str) -> Callable[[str, Record | None], None]:
        known, kind = self._objects[plural], self._kinds[plural]

        def change(key: str, record: Record | None) -> None:
            name = key.rpartition("/")[2]
            before = known.pop(name, None)
            if record is not None:
                known[name] = kind.object(record)
            if before is None or record is None or before["spec"] != known[name]["spec"]:
                self._rebuild()
            self._ask([name] if plural == SCHEMAS else self._objects[SCHEMAS])

        return change

    def _rebuild(self) -> None:
        levels: dict[str, PriorityLevel] = {}
        for name, obj in self._objects[LEVELS].items():
            made = self._made.get(name)
            if made is None or (made[0]["metadata"]["uid"], made[0]["spec"]) != (
                obj["metadata"]["uid"],
                obj["spec"],
            ):
                made = (obj, priority_level.from_object(obj))
            self._made[name] = made
            levels[name] = made[1]
        self._made = {name: self._made[name] for name in levels}
        priority_level.share_out(levels.values(), self._seats)
        self.levels = levels
        schemas = (flow_schema.compiled(obj) for obj in self._objects[SCHEMAS].values())
        self.schemas = flow_schema.ordered(schema for schema in schemas if schema.level in levels)
        self.version += 1

    # -- what is written back ----------------------------------------------------------------------------

    def _ask(self, names: Iterable[str]) -> None:
        self._pending.update(dict.fromkeys(names))
        if self._pending and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._work())

    async def _work(self) -> None:
        while self._pending:
            names, self._pending = list(self._pending), {}
            results = await asyncio.gather(*map(self._settle, names), return_exceptions=True)
            failed = [
                name
                for name, result in zip(names, results, strict=True)
                if isinstance(result, StoreError) and not isinstance(result, Damaged)
            ]
            if failed:
                asyncio.get_running_loop().call_later(_RETRY_SECONDS, self._ask, failed)

    async def _settle(self, name: str) -> None:
        kind = self._kinds[SCHEMAS]

        def change(schema: Object) -> Object | None:
            level_exists = schema["spec"]["priorityLevelConfiguration"]["name"] in self._objects[LEVELS]
            return dangling(schema, level_exists, self._context.timestamp())

        await modify_status(self._context, kind, kind.key("", name), change, _OPTIONS)
