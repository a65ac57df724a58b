"""Reads a policy and arguments strictly: what fields there are, and what may stand in them, in upstream's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pybernetes.api import selectors
from pybernetes.api.selectors import SelectorError
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
        return {
            str(key): self.item.read(entry, f"{path}.{key}", unknown, root) for key, entry in value.items()
        }


class Struct:
    """An object with certain fields; null stands for a field that is not given."""

    def __init__(self, name: str, fields: Mapping[str, Any]) -> None:
        self.name, self.fields = name, fields

    def read(self, value: Any, path: str, unknown: list[str], root: str) -> Any:
        if not isinstance(value, dict):
            raise _mismatch(value, path, root, self.name)
        result = {}
        for key, entry in value.items():
            where = f"{path}.{key}" if path else str(key)
            if key not in self.fields:
                unknown.append(where)
            elif entry is not None:
                result[key] = self.fields[key].read(entry, where, unknown, root)
        return result

    def decode(self, value: Any) -> Any:
        """Return what an object says; Problem if it cannot be decoded."""
        unknown: list[str] = []
        result = self.read(value, "", unknown, self.name.rpartition(".")[2])
        if unknown:
            listed = ", ".join(f'unknown field "{path}"' for path in unknown)
            raise Problem(f"strict decoding error: {listed}")
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
SELECTOR = Struct(
    "v1.LabelSelector",
    {
        "matchLabels": ByName(STRING, "map[string]string"),
        "matchExpressions": Many(
            Struct("v1.LabelSelectorRequirement", {"key": STRING, "operator": STRING, "values": STRINGS})
        ),
    },
)
NAMESPACES = Struct("api.Namespaces", {"include": STRINGS, "exclude": STRINGS})
THRESHOLDS = ByName(Value("api.Percentage", (int, float)), "api.ResourceThresholds")


def arguments(name: str, **fields: Any) -> Struct:
    """Return the type of a plugin's arguments."""
    return Struct(f"{name}Args", {"kind": STRING, "apiVersion": STRING, **fields})


def selecting_arguments(name: str, **fields: Any) -> Struct:
    """Return the type of the arguments of a plugin that selects pods by namespace and by labels."""
    return arguments(name, namespaces=NAMESPACES, labelSelector=SELECTOR, **fields)


def check_selection(given: Mapping[str, Any]) -> list[str]:
    """Say what is wrong with the namespaces and the label selector that most plugins take."""
    problems = []
    namespaces = given.get("namespaces") or {}
    if namespaces.get("include") and namespaces.get("exclude"):
        problems.append("only one of Include/Exclude namespaces can be set")
    problem = selector_problem(given.get("labelSelector"))
    if problem:
        problems.append(f"failed to get label selectors from strategy's params: {problem}")
    return problems


def selector_problem(selector: Mapping[str, Any] | None) -> str:
    """Return what is wrong with a label selector; nothing if all is well."""
    for expression in (selector or {}).get("matchExpressions") or ():
        operator, values = expression.get("operator", ""), expression.get("values") or []
        if operator in ("In", "NotIn") and not values:
            return "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"
        if operator in ("Exists", "DoesNotExist") and values:
            shown = " ".join(values)
            return f"values: Invalid value: [{shown}]: values set must be empty for exists and does not exist"
    try:
        selectors.from_object(selector)
    except SelectorError as error:
        return str(error)
    return ""


def aggregate(problems: list[str]) -> str:
    """Return several messages as one, as Go's aggregated errors are written."""
    distinct = list(dict.fromkeys(problems))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"


def _mismatch(value: Any, path: str, root: str, wanted: str, more: str = "") -> Problem:
    sort = {bool: "bool", str: "string", list: "array", dict: "object"}.get(type(value), "number")
    if isinstance(value, float) and not more:
        more = f" {value}"
    plain = ".".join(part.partition("[")[0] for part in path.split("."))
    return Problem(
        f"json: cannot unmarshal {sort}{more} into Go struct field {root}.{plain} of type {wanted}"
    )
