"""Reads configuration documents strictly: what fields there are, and what may stand in them, in upstream's words.

A document that a program is given as a file (``EncryptionConfiguration``, ``DeschedulerPolicy``) is of a ``Struct``; its
``decode`` gives what the document says, and names what it should not say.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pybernetes.api.text import go_format, yaml_reader
from pybernetes.lib import flags


class Problem(ValueError):
    """A value that cannot be decoded; the message says which."""


class Value:
    """A value that is no object: its name in Go, how it comes in JSON, and between which numbers it lies."""

    def __init__(self, name: str, kinds: tuple[type, ...], range_: tuple[int, int] | None = None) -> None:
        self.name, self.kinds, self.range = name, kinds, range_

    def read(self, value: Any, path: str, unknown: list[str], root: str) -> Any:
        """Return the value as it is kept; Problem if it is none."""
        fits = isinstance(value, self.kinds) and (bool in self.kinds or not isinstance(value, bool))
        if not fits:
            raise _mismatch(value, path, root, self.name)
        if self.range is not None and not self.range[0] <= value <= self.range[1]:
            raise _mismatch(value, path, root, self.name, f" {value}")
        return value


class Many:
    """A list."""

    def __init__(self, item: Any) -> None:
        self.item = item
        self.name = f"[]{item.name}"

    def read(self, value: Any, path: str, unknown: list[str], root: str) -> Any:
        if not isinstance(value, list):
            raise _mismatch(value, path, root, self.name)
        return [
            self.item.read(element, f"{path}[{index}]", unknown, root) for index, element in enumerate(value)
        ]


class ByName:
    """A map from names to values of a type."""

    def __init__(self, item: Any, name: str) -> None:
        self.item, self.name = item, name

    def read(self, value: Any, path: str, unknown: list[str], root: str) -> Any:
        if not isinstance(value, dict):
            raise _mismatch(value, path, root, self.name)
        # What is wrong with a plain value is said of the map.
        plain = isinstance(self.item, Value)
        return {
            str(key): self.item.read(entry, path if plain else f"{path}.{key}", unknown, root)
            for key, entry in value.items()
        }


class Struct:
    """An object with certain fields; null stands for a field that is not given."""

    def __init__(self, name: str, fields: Mapping[str, Any]) -> None:
        self.name, self.fields = name, fields

    def read(self, value: Any, path: str, unknown: list[str], root: str) -> Any:
        if not isinstance(value, dict):
            raise _mismatch(value, path, root, self.name)
        result = {}
        own = self.name.rpartition(".")[2]  # errors name the innermost type and the whole path
        for key, entry in value.items():
            where = f"{path}.{key}" if path else str(key)
            if key not in self.fields:
                unknown.append(where)
            elif entry is not None:
                result[key] = self.fields[key].read(entry, where, unknown, own)
        return result

    def decode(self, value: Any, complaints: Iterable[str] = ()) -> Any:
        """Return what an object says; Problem if it cannot be decoded, or if there are complaints already."""
        unknown: list[str] = []
        result = self.read(value, "", unknown, self.name.rpartition(".")[2])
        listed = [*complaints, *(f'unknown field "{path}"' for path in unknown)]
        if listed:
            raise Problem(f"strict decoding error: {', '.join(listed)}")
        return result


class _Duration(Value):
    def read(self, value: Any, path: str, unknown: list[str], root: str) -> Any:
        text = super().read(value, path, unknown, root)
        try:
            return flags.duration(text)
        except ValueError as error:
            raise Problem(f"time: {error}") from None


class _Raw(Value):
    def read(self, value: Any, path: str, unknown: list[str], root: str) -> Any:
        return value


STRING = Value("string", (str,))
BOOL = Value("bool", (bool,))
INT = Value("int", (int,), (-(2**63), 2**63 - 1))
INT32 = Value("int32", (int,), (-(2**31), 2**31 - 1))
INT64 = Value("int64", (int,), (-(2**63), 2**63 - 1))
UINT = Value("uint", (int,), (0, 2**64 - 1))
FLOAT = Value("float64", (int, float))
DURATION = _Duration("string", (str,))
RAW = _Raw("runtime.RawExtension", (object,))
STRINGS = Many(STRING)


def read_document(raw: bytes, kinds: Mapping[tuple[str, str], Struct], scheme: str) -> dict[str, Any]:
    """Return what a YAML or JSON document says, which is of one of the kinds (apiVersion and kind); Problem otherwise.

    ``scheme`` is how upstream calls the list of kinds.
    """
    value, duplicates = read_object(raw, kinds, scheme)
    return kinds[value["apiVersion"], value["kind"]].decode(value, duplicates)


def read_object(
    raw: bytes, kinds: Container[tuple[str, str]], scheme: str
) -> tuple[dict[str, Any], Sequence[str]]:
    """Return a document of one of the kinds, and which of its keys come twice; Problem for anything else."""
    try:
        value, duplicates = yaml_reader.loads(raw)
    except yaml_reader.YamlError as error:
        raise Problem(f"error converting YAML to JSON: {error}") from None
    if not isinstance(value, dict):
        sort = json_sort(value)
        raise Problem(
            "couldn't get version/kind; json parse error: json: cannot unmarshal "
            f"{sort} into Go value of type struct {{ APIVersion string "
            '"json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
        )
    version, kind = value.get("apiVersion") or "", value.get("kind") or ""
    shown = raw.decode(errors="replace")
    if not kind:
        raise Problem(f"Object 'Kind' is missing in {go_format.quote(shown)}")
    if not version:
        raise Problem(f"Object 'apiVersion' is missing in {go_format.quote(shown)}")
    if (version, kind) not in kinds:
        what = f"no kind {go_format.quote(kind)} is registered for version {go_format.quote(version)}"
        raise Problem(f"{what} in scheme {go_format.quote(scheme)}")
    return value, duplicates


def of_defaults(name: str, defaults: Mapping[str, Any]) -> Struct:
    """Return a struct whose fields are of the sorts that their defaults are; what a default does not tell may be anything."""
    sorts: list[tuple[type, Any]] = [(bool, BOOL), (int, INT32), (float, FLOAT), (str, STRING)]

    def sort(value: Any) -> Any:
        if isinstance(value, list):
            return STRINGS
        if isinstance(value, dict) and value:
            return of_defaults(name, value)
        return next((known for kind, known in sorts if isinstance(value, kind)), RAW)

    return Struct(name, {field: sort(value) for field, value in defaults.items()})


def read_file(path: str) -> bytes:
    """Return the bytes of a file; OSError in Go's words."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise OSError(f"open {path}: {why}") from None


def aggregate(problems: list[str]) -> str:
    """Return several messages as one, as Go's aggregated errors are written."""
    distinct = list(dict.fromkeys(problems))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"


def _mismatch(value: Any, path: str, root: str, wanted: str, more: str = "") -> Problem:
    sort = json_sort(value)
    if isinstance(value, float) and not more:
        more = f" {value}"
    plain = ".".join(part.partition("[")[0] for part in path.split("."))
    return Problem(
        f"json: cannot unmarshal {sort}{more} into Go struct field {root}.{plain} of type {wanted}"
    )


def json_sort(value: Any) -> str:
    """Return what Go calls a JSON value of this sort."""
    return {bool: "bool", str: "string", list: "array", dict: "object", type(None): "null"}.get(
        type(value), "number"
    )
