"""The nodes of the type graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Type:
    """One type as it stands at one place: lists and maps differ by the field that holds them.

    ``kind`` is one of struct, map, list, string, integer, number, boolean, bytes, quantity,
    int-or-string, time, microtime, any. ``atomic`` says that apply owns it as a whole.
    """

    __slots__ = ("_fields", "always", "atomic", "default", "enum", "format", "item", "keeps_zero", "keys", "kind",
                 "list_type", "merge_key", "name", "native", "package", "required", "resolve", "strategy")  # fmt: skip

    def __init__(self, kind: str, name: str = "") -> None:
        self.kind = kind
        self.name = name
        self.package = "v1"  # the version that a struct belongs to
        self.format = ""
        self.item: Type | None = None
        self.list_type = "atomic"
        self.keys: tuple[str, ...] = ()
        self.merge_key = ""
        self.strategy: tuple[str, ...] = ()
        self.atomic = False
        self.default: Any = None  # what a key of a list's items is when it is left out
        # Whether zero says something: Go leaves out the zero of a field that it cannot tell from absent.
        self.keeps_zero = True
        # Whether Go writes it even when it is empty: a list that nobody gave is null then.
        self.always = False
        self.enum: tuple[str, ...] = ()
        self.required: frozenset[str] = frozenset()
        self.native: type | None = _NATIVE.get(kind)
        self.resolve: Callable[[], dict[str, Type]] | None = None
        self._fields: dict[str, Type] | None = None

    @property
    def fields(self) -> dict[str, Type]:
        """The fields of a struct, built when they are first asked for (types can contain themselves)."""
        if self._fields is None:
            self._fields = self.resolve() if self.resolve else {}
        return self._fields

    @property
    def merges(self) -> bool:
        """Whether a strategic merge patch merges a list of this type instead of replacing it."""
        return "merge" in self.strategy

    def __repr__(self) -> str:
        return f"Type({self.kind}{' ' + self.name if self.name else ''})"


_NATIVE: dict[str, type] = {"string": str, "boolean": bool}
ANY = Type("any")
STRING = Type("string")
