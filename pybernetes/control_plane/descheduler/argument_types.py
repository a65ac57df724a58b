"""What the arguments of plugins consist of, and what is wrong with some of it, in upstream's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pybernetes.api import selectors
from pybernetes.api.selectors import SelectorError
from pybernetes.api.strict_types import (
    BOOL,
    DURATION,
    FLOAT,
    INT,
    INT32,
    INT64,
    RAW,
    STRING,
    STRINGS,
    UINT,
    ByName,
    Many,
    Problem,
    Struct,
    Value,
    aggregate,
)

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


__all__ = [
    "BOOL", "DURATION", "FLOAT", "INT", "INT32", "INT64", "RAW", "STRING", "STRINGS", "UINT", "ByName", "Many",
    "Problem", "Struct", "Value", "aggregate", "arguments", "check_selection", "selecting_arguments",
    "selector_problem", "NAMESPACES", "SELECTOR", "THRESHOLDS",
]  # fmt: skip
