"""Follows the objects of flow control: makes levels and schemas of them, and says of schemas whether they dangle."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from pybernetes.api import go
from pybernetes.api.flowcontrol import GROUP
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver import bootstrap, writes
from pybernetes.control_plane.apiserver.api import Api
from pybernetes.control_plane.apiserver.authz.follow import Follow
from pybernetes.control_plane.apiserver.flowcontrol import classify, defaults, levels
from pybernetes.control_plane.apiserver.flowcontrol.classify import Schema
from pybernetes.control_plane.apiserver.flowcontrol.levels import Level
from pybernetes.control_plane.apiserver.options import WriteOptions
from pybernetes.control_plane.apiserver.update_rules import StatusRules
from pybernetes.control_plane.store.protocol import Conflict, NotFound, Record, StoreError

log = logging.getLogger(__name__)
LEVELS, SCHEMAS = "prioritylevelconfigurations", "flowschemas"
_OPTIONS = WriteOptions(manager="api-priority-and-fairness-config-consumer-v1")
_RETRY_SECONDS = 1.0


def dangling(schema: Object, found: bool, now: str) -> Object | None:
    """The schema with its condition brought up to date, or None if it says so already."""
    level = go.quote(schema["spec"]["priorityLevelConfiguration"]["name"])
    begin = f"This FlowSchema references the PriorityLevelConfiguration object named {level} "
    said = (
        ("False", "Found", f"{begin}and it exists")
        if found
        else ("True", "NotFound", f"{begin}but there is no such object")
    )
    conditions: list[dict[str, Any]] = list(schema.get("status", {}).get("conditions", ()))
    old = next((each for each in conditions if each["type"] == "Dangling"), None)
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
    kept = [each for each in conditions if each is not old]
    return {**schema, "status": {**schema.get("status", {}), "conditions": [*kept, new]}}


class Configuration:
    """What the objects say at the moment. ``version`` grows with every change."""

    def __init__(self, api: Api, seats: int) -> None:
        self._api, self._seats = api, seats
        self._kinds = {plural: api.kinds.find(GROUP, plural) for plural in (LEVELS, SCHEMAS)}
        self._objects: dict[str, dict[str, Object]] = {LEVELS: {}, SCHEMAS: {}}
        self._made: dict[str, tuple[Object, Level]] = {}
        self.levels: dict[str, Level] = {}
        self.schemas: list[Schema] = []
        self.version = 0
        self._pending: dict[str, None] = {}
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Makes the objects that have to exist, all in one go, and follows them."""
        missing = ((LEVELS, defaults.LEVELS), (SCHEMAS, defaults.SCHEMAS))
        await asyncio.gather(
            *(
                bootstrap.ensure(self._api, GROUP, plural, "", obj)
                for plural, specs in missing
                for obj in defaults.objects(specs)
            )
        )
        for plural in (LEVELS, SCHEMAS):
            Follow(self._api.store, self._kinds[plural].prefix, self._changed(plural)).start()

    async def close(self) -> None:
        """Stops writing."""
        if self._task is not None:
            self._task.cancel()

    def _changed(self, plural: str) -> Any:
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
        found: dict[str, Level] = {}
        for name, obj in self._objects[LEVELS].items():
            made = self._made.get(name)
            if made is None or (made[0]["metadata"]["uid"], made[0]["spec"]) != (
                obj["metadata"]["uid"],
                obj["spec"],
            ):
                made = (obj, levels.from_object(obj))
            self._made[name] = made
            found[name] = made[1]
        self._made = {name: self._made[name] for name in found}
        levels.share_out(found.values(), self._seats)
        self.levels = found
        schemas = (classify.compiled(obj) for obj in self._objects[SCHEMAS].values())
        self.schemas = classify.ordered(schema for schema in schemas if schema.level in found)
        self.version += 1

    # -- what is written back ----------------------------------------------------------------------------

    def _ask(self, names: Any) -> None:
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
                if isinstance(result, StoreError) and not isinstance(result, (Conflict, NotFound))
            ]
            if failed:
                asyncio.get_running_loop().call_later(_RETRY_SECONDS, self._ask, failed)

    async def _settle(self, name: str) -> None:
        old = self._objects[SCHEMAS].get(name)
        if old is None:
            return
        found = old["spec"]["priorityLevelConfiguration"]["name"] in self._objects[LEVELS]
        new = dangling(old, found, self._api.timestamp())
        if new is None:
            return
        new["metadata"] = dict(new["metadata"])
        kind = self._kinds[SCHEMAS]
        writes.own_fields(
            self._api, kind.resource, old, new, _OPTIONS, "status", StatusRules(kind.resource).reset
        )
        revision = int(old["metadata"]["resourceVersion"])
        await self._api.store.update(kind.key("", name), kind.encode(new), revision)
