"""Which stored objects a list, watch or collection deletion is about."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.api import errors, selectors
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.options import ListOptions
from pybernetes.control_plane.store.protocol import Record

Match = Callable[[Record], bool]


class Selection:
    """A compiled pair of selectors. ``match`` is None if everything matches; ``name`` if one name is asked."""

    __slots__ = ("fields", "labels", "match", "name", "namespace")

    def __init__(self, kind: Kind, options: ListOptions) -> None:
        self.labels = _labels(options.label_selector)
        self.fields = _fields(kind, options.field_selector)
        self.name = self.namespace = ""
        for field, value, equal in self.fields:
            if equal and field == "metadata.name":
                self.name = value
            elif equal and field == "metadata.namespace":
                self.namespace = value
        self.match: Match | None = self._compile(kind) if self.labels or self.fields else None

    def chosen(self, records: list[Record]) -> list[Record]:
        """Return those of the records that match."""
        match = self.match
        return records if match is None else [record for record in records if match(record)]

    def _compile(self, kind: Kind) -> Match:
        labels, fields = self.labels, self.fields
        if not labels and len(fields) == 1 and fields[0][2]:  # a kubelet's: its pods by node
            field, value, _ = fields[0]
            return lambda record: kind.fields(record)[field] == value

        def match(record: Record) -> bool:
            if labels and not labels.matches(kind.labels(record)):
                return False
            if not fields:
                return True
            values = kind.fields(record)
            return all((values[field] == value) is equal for field, value, equal in fields)

        return match


def _labels(text: str) -> selectors.Selector:
    try:
        return selectors.parse_labels(text)
    except selectors.SelectorError as error:
        raise errors.bad_request(str(error)) from None


def _fields(kind: Kind, text: str) -> list[tuple[str, str, bool]]:
    if not text:
        return []
    try:
        fields = selectors.parse_fields(text)
    except selectors.SelectorError as error:
        raise errors.bad_request(str(error)) from None
    for field, _, _ in fields:
        if field not in kind.selectable:
            raise errors.bad_request(_unsupported(kind, field))
    return fields


def _unsupported(kind: Kind, field: str) -> str:
    if kind.resource.selectable or kind.resource.own_type is not None:
        return f"field label not supported: {field}"
    return f"{go_format.quote(field)} is not a known field selector: only " + ", ".join(
        go_format.quote(name) for name in ("metadata.name", "metadata.namespace")
    )
