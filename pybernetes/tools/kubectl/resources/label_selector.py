"""Label selectors: from the command line to an object, and from an object to text.

``api.selectors`` parses them; it could also show them, but describe shows many and would wait longer for its import.
"""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.errors import CommandError, quoted

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


def parse_selector(text: str) -> Object:
    """Return a LabelSelector from a selector of the command line."""
    import re

    from pybernetes.api.selectors import SelectorError, parse_labels

    try:
        parsed = parse_labels(text)
    except SelectorError as error:
        raise CommandError(f'couldn\'t parse the selector string "{text}": {error}') from None
    labels: dict[str, str] = {}
    expressions: list[Object] = []
    names = {"in": "In", "notin": "NotIn", "exists": "Exists", "!": "DoesNotExist"}
    if match := re.search(r"!=|(?<=[\w.-])\s*[<>]", text):
        raise CommandError(f"{quoted(match[0].strip())} is not a valid label selector operator")
    for requirement in parsed.requirements:
        if (
            requirement.operator == "in"
            and len(requirement.values) == 1
            and not _lists(text, requirement.key)
        ):
            labels[requirement.key] = requirement.values[0]
        else:
            expression: Object = {"key": requirement.key, "operator": names[requirement.operator]}
            if requirement.values:
                expression["values"] = list(requirement.values)
            expressions.append(expression)
    selector: Object = {}
    if labels:
        selector["matchLabels"] = dict(sorted(labels.items()))
    if expressions:
        selector["matchExpressions"] = expressions
    return selector


def _lists(text: str, key: str) -> bool:
    """Return whether a selector names the values of a key as a list, be it of one."""
    import re

    return re.search(rf"(?:^|,)\s*{re.escape(key)}\s+in\s*\(", text) is not None


def show(selector: Object | None) -> str:
    """Return a LabelSelector as text: a=b,c in (d,e)."""
    selector = selector or {}
    parts = [(key, f"{key}={value}") for key, value in (selector.get("matchLabels") or {}).items()]
    for expression in selector.get("matchExpressions") or ():
        key, values = expression["key"], ",".join(sorted(expression.get("values") or ()))
        match expression.get("operator"):
            case "In":
                parts.append((key, f"{key} in ({values})"))
            case "NotIn":
                parts.append((key, f"{key} notin ({values})"))
            case "Exists":
                parts.append((key, key))
            case _:
                parts.append((key, f"!{key}"))
    return ",".join(text for _, text in sorted(parts))


def show_map(labels: dict[str, str] | None) -> str:
    """Return a plain map of labels as a selector."""
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items()))


def parse_labels(text: str) -> dict[str, str]:
    """Return labels from a=b,c=d."""
    labels = {}
    for part in text.split(",") if text else ():
        pair = part.split("=")
        if len(pair) != 2:
            raise CommandError(f"unexpected label spec: {part}")
        if not pair[0]:
            raise CommandError("unexpected empty label key")
        labels[pair[0]] = pair[1]
    return dict(sorted(labels.items()))
