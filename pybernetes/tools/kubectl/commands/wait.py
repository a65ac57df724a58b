"""wait: waits until something is true of objects."""

from __future__ import annotations

import re
import time

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, not_found, raise_all
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.output.jsonpath import PathTemplate, show
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.info import Info
from pybernetes.tools.kubectl.resources.waiting import A_WEEK, TimedOut, timed_out, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from pybernetes.api.resource import Object

    Condition = Callable[[Object | None], bool]


SUMMARY = "Wait for a specific condition on one or many resources"
USAGE = "wait ([-f FILENAME] | resource.group/resource.name | resource.group [(-l label | --all)]) [--for=create|--for=delete|--for condition=available|--for=jsonpath='{}'[=value]]"
FLAGS = (
    shared_flags.PRINT, shared_flags.SELECTOR, shared_flags.FIELD_SELECTOR, shared_flags.ALL_NAMESPACES,
    """
f filename list | files, directories or URLs
R recursive bool true | read directories given with -f recursively
- all bool false | all objects of the types in the namespace
- for array | what to wait for: create, delete, condition=NAME[=VALUE], jsonpath='{PATH}'[=VALUE]
- local bool false |
- timeout duration 30s | how long to wait; 0 looks once, a negative number waits a week
""",
)  # fmt: skip
_PAUSE = 0.5  # as long as the original's
_EVENTS = ("create", "delete")


def run(context: Context) -> None:
    """Wait for every object that the arguments name."""
    flags = context.flags
    wanted = flags.__getattr__("for")
    if not wanted:
        raise CommandError("unrecognized condition: []")
    conditions = [(text.lower(), None if text.lower() in _EVENTS else parse(text)) for text in wanted]
    met = printers.make(context, "condition met")
    seconds = flags.timeout if flags.timeout >= 0 else A_WEEK
    deadline = time.monotonic() + seconds
    kinds = {kind for kind, _ in conditions}
    builder, infos = _objects(context, kinds, deadline)
    count = 0
    for info in infos:
        count += 1
        try:
            for kind, condition in conditions:
                if not info.name and kind != "create":
                    raise CommandError("resource name must be provided")
                if seconds == 0 and condition is not None:
                    value = _look_once(context, info, condition)
                else:
                    value = _wait(context, info, condition, kind == "create", kind == "delete", deadline)
                met(value or info.object or {
                    "apiVersion": info.resource.api_version, "kind": info.resource.kind, "metadata": {"name": info.name},
                })  # fmt: skip
        except CommandError as error:
            if error.message.startswith("timed out") and seconds == 0:
                error = CommandError(f"condition not met for {info.resource.plural}/{info.name}")
            builder.errors.append(error)
    raise_all(builder.errors)
    if not count and "delete" not in kinds:
        raise CommandError("no matching resources found")


def _objects(context: Context, kinds: set[str], deadline: float) -> tuple[Builder, Iterable[Info]]:
    """Return the objects that the arguments name, each read when its turn comes; if they are to be created, once one is there."""
    flags = context.flags
    creating = "create" in kinds
    options: dict[str, Any] = {
        "require_object": not creating,
        "continue_on_error": True,
        "latest": not creating,
    }
    if "delete" in kinds:
        options["ignore"] = not_found
    while True:
        builder = Builder.from_flags(context, select_all=False, empty_selector=flags.all, **options)
        if not creating:
            return builder, builder.infos()
        infos = builder.all()
        raise_all(builder.errors)
        if infos:
            return builder, infos
        if not _may_come(context, deadline):
            raise CommandError("timed out waiting for the condition")


def _look_once(context: Context, info: Info, condition: Condition) -> Object | None:
    """Return the object if the condition holds now."""
    value = context.client.get(info.resource, info.namespace, info.name)
    if not condition(value):
        raise timed_out(info)
    return value


def _may_come(context: Context, deadline: float) -> bool:
    """Wait until an object of the types that the arguments name appears; False if none does in time."""
    flags = context.flags
    left = deadline - time.monotonic()
    if left <= 0 or not context.args:
        return False
    resource = context.discovery.find(context.args[0].split(",")[0])
    namespace = "" if flags.all_namespaces else context.namespace
    query: dict[str, Any] = {"labels": flags.selector or None, "fields": flags.field_selector or None}
    try:
        for event in context.client.watch(
            resource, namespace, read_timeout=left, timeoutSeconds=int(min(left, 3600)) + 1, **query
        ):
            if event.get("type") == "ADDED":
                return True
    except TimeoutError:
        return False
    return time.monotonic() < deadline


def _wait(
    context: Context, info: Info, condition: Condition | None, creating: bool, deleting: bool, deadline: float
) -> Object | None:
    if creating:
        try:
            return until(context, info, lambda value: value is not None, deadline, pause=_PAUSE)
        except TimedOut:
            raise CommandError("timed out waiting for the condition") from None
    if deleting:
        uid = (info.object.get("metadata") or {}).get("uid")
        return until(
            context,
            info,
            lambda value: value is None or (bool(uid) and value["metadata"].get("uid") != uid),
            deadline,
        )
    assert condition is not None
    if time.monotonic() >= deadline:  # those before it took all the time that there was
        raise timed_out(info)
    try:
        return until(
            context,
            info,
            lambda value: value is not None and condition(value),
            deadline,
            seen=info.object or None,
        )
    except TimedOut:
        raise timed_out(info) from None


def parse(text: str) -> Condition:
    """Return the condition that --for means."""
    if text.startswith("condition="):
        name, equals, value = text[len("condition=") :].partition("=")
        wanted = value if equals else "true"
        return lambda observed: has_condition(observed or {}, name, wanted)
    if text.startswith("jsonpath="):
        return _by_path(text[len("jsonpath=") :])
    raise CommandError(f'unrecognized condition: "{text}"')


def has_condition(value: Object, name: str, wanted: str) -> bool:
    """Return whether a condition of an object has a status and is about the object's present generation."""
    status = value.get("status") or {}
    for condition in status.get("conditions") or ():
        if str(condition.get("type")).lower() != name.lower():
            continue
        generation = (value.get("metadata") or {}).get("generation")
        observed = condition.get("observedGeneration") or status.get("observedGeneration")
        if generation and observed and observed < generation:
            return False
        return str(condition.get("status")).lower() == wanted.lower()
    return False


def _by_path(text: str) -> Condition:
    path, value, given = _split(text)
    program = PathTemplate.relaxed(path)

    def holds(observed: Object | None) -> bool:
        lists = program.results(observed)
        if not lists or not lists[0]:
            return False
        if len(lists) > 1 or len(lists[0]) > 1:
            what = "list" if len(lists) > 1 else "value"
            raise CommandError(f"given jsonpath expression matches more than one {what}")
        if not given:
            return True
        if isinstance(lists[0][0], dict | list):
            raise CommandError("jsonpath leads to a nested object or list which is not supported")
        return show(lists[0][0]).strip() == value.strip()

    return holds


_FORMAT = (
    "jsonpath wait format must be --for=jsonpath='{.status.readyReplicas}'=3 or "
    "--for=jsonpath='{.status.readyReplicas}'"
)


def _split(text: str) -> tuple[str, str, bool]:
    """Return the path and the value around the one equals sign that is not part of ``==``."""
    if not text:
        raise CommandError("jsonpath expression cannot be empty")
    parts = [""]
    for piece in re.findall("==|=|[^=]+", text):
        if piece == "=":
            parts.append("")
        else:
            parts[-1] += piece
    if len(parts) > 2:
        raise CommandError(_FORMAT)
    path, value = parts[0].strip("'\""), parts[-1].strip("'\"")
    if len(parts) > 1 and not value:
        raise CommandError(
            "jsonpath wait has to have a value after equal sign, like --for=jsonpath='{.status.readyReplicas}'=3"
        )
    return path, value, len(parts) > 1
