"""What every description is written with: lines in levels, labels that line up, labels and annotations, events."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, escaped
from pybernetes.tools.kubectl.output.elastic_tabs import align
from pybernetes.tools.kubectl.output.go_value import go_value
from pybernetes.tools.kubectl.output.times import rfc1123z, since
from pybernetes.tools.kubectl.resources.info import Info
from pybernetes.tools.kubectl.resources.label_selector import show, show_map

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


_LONG = 140
_SKIPPED = "kubectl.kubernetes.io/last-applied-configuration"


class Writer:
    """Collects a description."""

    def __init__(self, context: Context, info: Info, with_events: bool) -> None:
        self.context, self.info, self.with_events = context, info, with_events
        self._parts: list[str] = []
        self._done = ""

    def put(self, text: str, level: int = 0) -> None:
        """Add text at a level; what would be a command to the terminal is shown."""
        self._parts.append("  " * level + escaped(text))

    def line(self, text: str = "", level: int = 0) -> None:
        """Add a line."""
        self.put(text + "\n", level)

    def field(self, label: str, value: Any, level: int = 0) -> None:
        """Add a label and its value."""
        self.put(f"{label}:\t{shown(value)}\n", level)

    def some(self, label: str, value: Any, level: int = 0) -> None:
        """Add a label and its value if there is one."""
        if value not in (None, ""):
            self.field(label, value, level)

    def heading(self, *columns: str, level: int = 1, dashes: tuple[str, ...] = ()) -> None:
        """Add the headings of a table, with a line below them."""
        self.line("\t".join(columns), level)
        self.line("\t".join(dashes or ("-" * len(column) for column in columns)), level)

    def name(self, value: Object, *, namespace: bool = True) -> None:
        """Add name and namespace."""
        metadata = value["metadata"]
        self.field("Name", metadata.get("name", ""))
        if namespace:
            self.field("Namespace", metadata.get("namespace", ""))

    def marks(self, value: Object) -> None:
        """Add labels and annotations."""
        metadata = value.get("metadata") or {}
        self.labels("Labels", metadata.get("labels"))
        self.annotations("Annotations", metadata.get("annotations"))

    def labels(self, title: str, labels: dict[str, str] | None, indent: str = "") -> None:
        """Add labels, one to a line."""
        self.put(f"{indent}{title}:\t")
        if not labels:
            self.line("<none>")
            return
        for place, key in enumerate(sorted(labels)):
            self.put(f"{indent if place else ''}{chr(9) if place else ''}{key}={labels[key]}\n")

    def annotations(self, title: str, annotations: dict[str, str] | None) -> None:
        """Add annotations; long ones are cut."""
        self.put(f"{title}:\t")
        keys = sorted(key for key in annotations or {} if key != _SKIPPED)
        if not keys:
            self.line("<none>")
            return
        for place, key in enumerate(keys):
            if place:
                self.put("\t")
            value = (annotations or {})[key].removesuffix("\n")
            if len(value) + len(key) + 2 > _LONG or "\n" in value:
                self.line(f"{key}:")
                for line in value.split("\n"):
                    self.line(f"\t  {line[: _LONG - 2] + '...' if len(line) > _LONG - 2 else line}")
            else:
                self.line(f"{key}: {value}")

    def conditions(self, listed: list[Object], *times: str) -> None:
        """Add a line for each condition, with the times that are named."""
        for condition in listed:
            moments = [rfc1123z(condition.get(name)) for name in times]
            texts = condition.get("reason", ""), condition.get("message", "")
            self.line(" \t".join([condition["type"], condition["status"], *moments, *texts]), 1)

    def typed_reference(self, title: str, value: Object | None) -> None:
        """Add a reference to an object of any kind, if there is one."""
        if value:
            self.line(f"{title}:")
            self.some("APIGroup", value.get("apiGroup"), 1)
            self.field("Kind", value.get("kind", ""), 1)
            self.field("Name", value.get("name", ""), 1)

    def flush(self) -> None:
        """End the columns so far."""
        self._done += align("".join(self._parts))
        self._parts = []

    def raw(self) -> str:
        """Return what was written since the last columns ended, with its tabs."""
        return "".join(self._parts)

    def text(self) -> str:
        """Return the whole description."""
        self.flush()
        return self._done

    def events(self, items: list[Object] | None = None) -> None:
        """Add the events of the object."""
        if not self.with_events:
            return
        if items is None:
            items = self.find_events()
        if not items:
            self.line("Events:\t<none>")
            return
        self.flush()
        self.put("Events:\n  Type\tReason\tAge\tFrom\tMessage\n")
        self.line("----\t------\t----\t----\t-------", 1)
        for event in sorted(items, key=lambda item: item.get("lastTimestamp") or ""):
            self.line("\t".join(_event(event)), 1)

    def find_events(self, kind: bool = True, uid: str = "") -> list[Object]:
        """Return the events about the object."""
        metadata = self.info.object["metadata"]
        parts = {
            "involvedObject.name": metadata.get("name"), "involvedObject.namespace": metadata.get("namespace"),
            "involvedObject.kind": self.info.resource.kind if kind else None,
            "involvedObject.uid": uid or metadata.get("uid"),
        }  # fmt: skip
        selector = ",".join(f"{key}={value}" for key, value in sorted(parts.items()) if value)
        return self.list("events", metadata.get("namespace") or "", fields=selector)

    def list(self, resource: str, namespace: str = "", **query: Any) -> list[dict[str, Any]]:
        """Return objects that belong to the description; none if they cannot be listed."""
        try:
            listed = self.context.client.list(self.context.discovery.find(resource), namespace, **query)
        except CommandError:
            return []
        return listed.get("items") or []

    def pod_counts(self, value: Object, selector: str) -> str:
        """Return how many pods of a controller are in each phase."""
        metadata = value["metadata"]
        counts = {"Running": 0, "Pending": 0, "Succeeded": 0, "Failed": 0}
        for pod in self.list("pods", metadata.get("namespace") or "", labels=selector):
            owner = controller_of(pod)
            phase = (pod.get("status") or {}).get("phase")
            if owner.get("uid") == metadata.get("uid") and phase in counts:
                counts[phase] += 1
        running, waiting, succeeded, failed = counts.values()
        return f"{running} Running / {waiting} Waiting / {succeeded} Succeeded / {failed} Failed"


def _event(event: Object) -> list[str]:
    first = since(event.get("eventTime") or event.get("firstTimestamp"))
    interval = first
    if event.get("series"):
        series = event["series"]
        interval = f"{since(series.get('lastObservedTime'))} (x{series.get('count')} over {first})"
    elif (event.get("count") or 0) > 1:
        interval = f"{since(event.get('lastTimestamp'))} (x{event['count']} over {first})"
    source = (event.get("source") or {}).get("component") or event.get("reportingComponent") or ""
    message = (event.get("message") or "").strip()
    path = (event.get("involvedObject") or {}).get("fieldPath")
    return [
        event.get("type") or "",
        event.get("reason") or "",
        interval,
        source,
        f"{path}: {message}" if path else message,
    ]


def controller_of(value: Object) -> Object:
    """Return the reference to the controller of an object."""
    for reference in value["metadata"].get("ownerReferences") or ():
        if reference.get("controller"):
            return reference
    return {}


def controlled_by(value: Object) -> str:
    """Return kind and name of the controller."""
    owner = controller_of(value)
    return f"{owner['kind']}/{owner['name']}" if owner else ""


def shown(value: Any) -> str:
    """Return a value as Go prints it."""
    return "" if value is None else go_value(value, shown)


def truth(value: bool | None) -> str:
    """Return True, False or unset."""
    return "<unset>" if value is None else "True" if value else "False"


def label_text(labels: dict[str, str] | None) -> str:
    """Return labels as a=b,c=d."""
    return show_map(labels) or "<none>"


def selector_text(selector: Object | None) -> str:
    """Return a LabelSelector as text."""
    return show(selector) or "<none>"


def access_modes(modes: list[str] | None) -> str:
    """Return access modes in their short forms."""
    short = {
        "ReadWriteOnce": "RWO",
        "ReadOnlyMany": "ROX",
        "ReadWriteMany": "RWX",
        "ReadWriteOncePod": "RWOP",
    }
    return ",".join(text for mode, text in short.items() if mode in (modes or ()))
