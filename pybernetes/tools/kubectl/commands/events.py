"""events: lists what has happened."""

from __future__ import annotations

from pybernetes.lib.rfc3339 import parse as parse_time
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.describe._writer import _event
from pybernetes.tools.kubectl.errors import CommandError, NoMatch, Verbatim, escaped
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.output.table import columns
from pybernetes.tools.kubectl.resources.built_in import built_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from pybernetes.api.resource import Object
    from pybernetes.tools.kubectl.command_line.flags import Values


SUMMARY = "List events"
USAGE = "events [(-o|--output=)json|yaml|kyaml|name|go-template|go-template-file|template|templatefile|jsonpath|jsonpath-as-json|jsonpath-file] [--for TYPE/NAME] [--watch] [--types=Normal,Warning]"
FLAGS = (shared_flags.PRINT, shared_flags.ALL_NAMESPACES, shared_flags.CHUNK, """
- for string | only about this object: TYPE/NAME
- no-headers bool false | leave the headings out
- types list | only these types: Normal, Warning
w watch bool false | then show more as it happens
""")  # fmt: skip


def run(context: Context) -> None:
    """Print events, the newest last."""
    flags = context.flags
    about = flags.__getattr__("for")
    if about and "/" not in about:
        raise CommandError("--for must be in resource/name form")
    if any(event_type.lower() not in ("normal", "warning") for event_type in flags.types):
        raise CommandError("valid --types are Normal or Warning")
    show = printers.make(context) if flags.output else None  # complain before the server is asked
    namespace = "" if flags.all_namespaces else context.namespace
    fields = _fields(context, about) if about else None
    if flags.watch:
        _watch(context, namespace, fields, show)
        return
    listed = context.client.list(built_in("Event"), namespace, fields=fields)
    items = [_typed(event) for event in listed.get("items") or () if _wanted(flags, event)]
    if not items:
        where = "." if flags.all_namespaces else f" in {context.namespace} namespace."
        context.warn(f"No events found{where}")
        return
    items.sort(key=_moment)
    if show is None:
        headings = [] if flags.no_headers else [_headings(flags)]
        context.stdout.write(columns([*headings, *(_row(flags, event) for event in items)]))
    elif flags.output != "name":  # which the original does not print of a list
        show({"apiVersion": "v1", "kind": "EventList", "metadata": {}, "items": items})


def _watch(
    context: Context, namespace: str, fields: str | None, show: Callable[[Object], None] | None
) -> None:
    """Print the events that there are, and those that come."""
    flags = context.flags
    headings = [] if flags.no_headers else [_headings(flags)]
    for event in context.client.watch(built_in("Event"), namespace, fields=fields, limit=500):
        if event["type"] not in ("ADDED", "MODIFIED") or not _wanted(flags, event["object"]):
            continue
        if show is None:
            context.stdout.write(columns([*headings, _row(flags, event["object"])]))
            headings = []
        else:
            show(_typed(event["object"]))
        context.stdout.flush()


def _typed(event: Object) -> Object:
    return {"apiVersion": "v1", "kind": "Event", **event}


def _fields(context: Context, about: str) -> str:
    parts = about.split("/")
    if len(parts) != 2:
        raise CommandError("arguments in resource/name form may not have more than one slash")
    try:
        kind = context.discovery.find(parts[0], attempts=2)
    except NoMatch as error:
        raise Verbatim(error.message) from None
    version = f"involvedObject.apiVersion={kind.api_version}"
    return f"involvedObject.kind={kind.kind},{version},involvedObject.name={parts[1]}"


def _wanted(flags: Values, event: Object) -> bool:
    return not flags.types or (event.get("type") or "").lower() in [
        event_type.lower() for event_type in flags.types
    ]


def _moment(event: Object) -> float:
    series = (event.get("series") or {}).get("lastObservedTime")
    text = series or event.get("lastTimestamp") or event.get("eventTime")
    return parse_time(text) if text else 0.0


def _headings(flags: Values) -> list[str]:
    return (["NAMESPACE"] if flags.all_namespaces else []) + [
        "LAST SEEN",
        "TYPE",
        "REASON",
        "OBJECT",
        "MESSAGE",
    ]


def _row(flags: Values, event: Object) -> list[str]:
    kind, reason, interval, _, _ = _event(event)
    about = event.get("involvedObject") or {}
    cells = [
        interval,
        kind,
        reason,
        f"{about.get('kind', '')}/{about.get('name', '')}",
        (event.get("message") or "").strip(),
    ]
    namespace = [event["metadata"].get("namespace", "")] if flags.all_namespaces else []
    return [escaped(cell) for cell in namespace + cells]
