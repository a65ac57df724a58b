"""Paths to fields, and the errors that validation collects about them.

A path is cheap to build and is turned into text only when there is an error to tell.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pybernetes.api.text import go_format

_new = object.__new__


class Path:
    """Where a field is: ``Path("spec") / "containers"`` then ``[0]`` then ``/ "name"``."""

    __slots__ = ("parent", "part")

    def __init__(self, part: str = "", parent: Path | None = None) -> None:
        self.part = part
        self.parent = parent

    # A path is made for nearly every field that is looked at, mostly for nothing: to call the class would cost a call more.

    def __truediv__(self, name: str) -> Path:
        path = _new(Path)
        path.part, path.parent = name, self
        return path

    def __getitem__(self, index: int | str) -> Path:
        path = _new(Path)
        path.part, path.parent = f"[{index}]", self
        return path

    def __str__(self) -> str:
        parts: list[str] = []
        node: Path | None = self
        while node is not None:
            if node.part:
                parts.append(node.part)
            node = node.parent
        parts.reverse()
        return "".join(
            part if part[0] == "[" or not index else f".{part}" for index, part in enumerate(parts)
        )

    def __repr__(self) -> str:
        return f"Path({str(self)!r})"


ROOT = Path()


class FieldError:
    """One thing that is wrong with one field, in Kubernetes' words."""

    __slots__ = ("detail", "field", "reason", "type", "value")

    def __init__(self, type_: str, reason: str, field: str, value: Any, detail: str) -> None:
        self.type, self.reason, self.field, self.value, self.detail = type_, reason, field, value, detail

    @property
    def body(self) -> str:
        """The message without the name of the field."""
        text = self.type
        if self.value is not OMIT:
            text += f": {go_format.value(self.value)}"
        return f"{text}: {self.detail}" if self.detail else text

    def cause(self) -> dict[str, str]:
        """Return the error as an entry of ``Status.details.causes``."""
        return {"reason": self.reason, "message": self.body, "field": self.field}

    def __str__(self) -> str:
        return f"{self.field}: {self.body}"

    __repr__ = __str__


class _Omit:
    __slots__ = ()


OMIT: Any = _Omit()


# How many errors one report has, and how long their paths are together: a path can be as long as what was sent.
MAX_ERRORS, MAX_PATHS = 10_000, 1 << 20


class Errors(list[FieldError]):
    """A list of field errors with a method for each type that Kubernetes has; when it is full, more are dropped."""

    paths_length = 0

    @property
    def full(self) -> bool:
        """Whether no more errors are taken."""
        return len(self) >= MAX_ERRORS or self.paths_length > MAX_PATHS

    def _add(self, type_: str, reason: str, path: Path | str, value: Any, detail: str) -> None:
        if self.full:
            return
        # A path that renders to nothing is the object itself, which upstream prints as <nil>.
        field = str(path) or "<nil>"
        self.paths_length += len(field)
        self.append(FieldError(type_, reason, field, value, detail))

    def required(self, path: Path | str, detail: str = "") -> None:
        self._add("Required value", "FieldValueRequired", path, OMIT, detail)

    def invalid(self, path: Path | str, value: Any, detail: str = "") -> None:
        self._add("Invalid value", "FieldValueInvalid", path, value, detail)

    def type_invalid(self, path: Path | str, value: Any, detail: str = "") -> None:
        self._add("Invalid value", "FieldValueTypeInvalid", path, value, detail)

    def duplicate(self, path: Path | str, value: Any) -> None:
        self._add("Duplicate value", "FieldValueDuplicate", path, value, "")

    def not_found(self, path: Path | str, value: Any) -> None:
        self._add("Not found", "FieldValueNotFound", path, value, "")

    def forbidden(self, path: Path | str, detail: str = "") -> None:
        self._add("Forbidden", "FieldValueForbidden", path, OMIT, detail)

    def unsupported(self, path: Path | str, value: Any, supported: Iterable[str] = ()) -> None:
        ordered = sorted(supported) if isinstance(supported, (set, frozenset)) else supported
        listed = ", ".join(go_format.quote(item) for item in ordered)
        detail = f"supported values: {listed}" if listed else ""
        self._add("Unsupported value", "FieldValueNotSupported", path, value, detail)

    def too_long(self, path: Path | str, limit: int, unit: str = "byte") -> None:
        noun = unit if limit == 1 else unit + "s"
        detail = f"may not be more than {limit} {noun}" if limit >= 0 else "value is too long"
        self._add("Too long", "FieldValueTooLong", path, OMIT, detail)

    def too_many(self, path: Path | str, actual: int, limit: int) -> None:
        noun = "item" if limit == 1 else "items"
        detail = f"must have at most {limit} {noun}" if limit >= 0 else "has too many items"
        value = actual if actual >= 0 else OMIT
        self._add("Too many", "FieldValueTooMany", path, value, detail)

    def internal(self, path: Path | str, error: object) -> None:
        self._add("Internal error", "InternalError", path, OMIT, str(error))
