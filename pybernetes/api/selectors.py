"""Label and field selectors: parsed from a query or from a LabelSelector object, matched against maps."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from pybernetes.api.text import go_format
from pybernetes.api.validation import names
from pybernetes.lib.memory.bounded_cache import bounded_cache

_TOKEN = re.compile(r"\s*(?:(!=|==|=|!|<|>|\(|\)|,)|([^\s!=<>(),]+))")
# Reading one takes some milliseconds at the most.
LONGEST = 16 * 1024
_COMMA = re.compile(r"\\.|,", re.DOTALL)
_ESCAPE = re.compile(r"\\(.?)|=", re.DOTALL)
Matcher = Callable[[Mapping[str, str]], bool]


class SelectorError(ValueError):
    """The text is not a selector."""


class Requirement:
    """One condition on one key. Operators: in, notin, exists, !, gt, lt (``=`` is in with one value)."""

    __slots__ = ("key", "operator", "values")

    def __init__(self, key: str, operator: str, values: tuple[str, ...] = ()) -> None:
        self.key, self.operator, self.values = key, operator, values

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether the labels meet the condition."""
        value = labels.get(self.key)
        match self.operator:
            case "in":
                return value in self.values
            case "notin":
                return value not in self.values
            case "exists":
                return value is not None
            case "!":
                return value is None
        try:
            number, limit = int(value or ""), int(self.values[0])
        except ValueError:
            return False
        return number > limit if self.operator == "gt" else number < limit

    def __str__(self) -> str:
        match self.operator:
            case "in" if len(self.values) == 1:
                return f"{self.key}={self.values[0]}"
            case "notin" if len(self.values) == 1:
                return f"{self.key}!={self.values[0]}"
            case "in" | "notin":
                return f"{self.key} {self.operator} ({','.join(sorted(self.values))})"
            case "exists":
                return self.key
            case "!":
                return f"!{self.key}"
        return f"{self.key}{'>' if self.operator == 'gt' else '<'}{self.values[0]}"


# Requirements and their values up to which asking one after the other is quickest.
_FEW = 16


# Values of one requirement up to which looking at each is as quick as a set of them, and needs no memory.
_FEW_VALUES = 4
_Values = Collection[str]


def _values(requirement: Requirement) -> _Values:
    values = requirement.values
    return values if len(values) <= _FEW_VALUES else set(values)


class _ByKey:
    """Many requirements, put together so that a match takes as long as there are labels, not requirements.

    A watch has one for as long as it is open: what a requirement has already is not copied.
    """

    __slots__ = ("_absent", "_allowed", "_compared", "_forbidden", "_present")

    def __init__(self, requirements: tuple[Requirement, ...]) -> None:
        self._present: set[str] = set()
        self._absent: set[str] = set()
        self._allowed: dict[str, _Values] = {}
        self._forbidden: dict[str, _Values] = {}
        self._compared: dict[str, list[Requirement]] = {}
        for requirement in requirements:
            key = requirement.key
            match requirement.operator:
                case "!":
                    self._absent.add(key)
                case "notin":
                    self._forbid(key, requirement)
                case "in":
                    allowed = self._allowed.get(key)
                    values = _values(requirement)
                    if allowed is not None:
                        values = {value for value in values if value in allowed}
                    self._allowed[key] = values
                case "exists":
                    self._present.add(key)
                case _:
                    self._compared.setdefault(key, []).append(requirement)

    def _forbid(self, key: str, requirement: Requirement) -> None:
        forbidden = self._forbidden.get(key)
        if forbidden is None:
            self._forbidden[key] = _values(requirement)
        elif isinstance(forbidden, set):
            forbidden.update(requirement.values)
        else:
            self._forbidden[key] = {*forbidden, *requirement.values}

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether all requirements are met."""
        for needed in (self._present, self._allowed, self._compared):
            if len(needed) > len(labels) or not all(key in labels for key in needed):
                return False
        for key, value in labels.items():
            if key in self._absent or value in self._forbidden.get(key, ()):
                return False
            if key in self._allowed and value not in self._allowed[key]:
                return False
            if not all(requirement.matches(labels) for requirement in self._compared.get(key, ())):
                return False
        return True


class Selector:
    """A conjunction of requirements; an empty one matches everything."""

    __slots__ = ("_by_key", "requirements")

    def __init__(self, requirements: tuple[Requirement, ...] = ()) -> None:
        self.requirements = requirements
        size = sum(1 + len(requirement.values) for requirement in requirements)
        self._by_key = _ByKey(requirements) if size > _FEW else None

    def matches(self, labels: Mapping[str, str] | None) -> bool:
        """Return whether all requirements are met."""
        values = labels or {}
        if self._by_key is not None:
            return self._by_key.matches(values)
        return all(requirement.matches(values) for requirement in self.requirements)

    def __bool__(self) -> bool:
        return bool(self.requirements)

    def __str__(self) -> str:
        return ",".join(str(requirement) for requirement in self.requirements)


EVERYTHING = Selector()


class Nothing(Selector):
    """The selector that matches no object: an absent LabelSelector."""

    __slots__ = ()

    def matches(self, labels: Mapping[str, str] | None) -> bool:
        return False

    def __bool__(self) -> bool:
        return True


NOTHING = Nothing()


@bounded_cache(4 << 20, weight=50)
def parse_labels(text: str) -> Selector:
    """Return a label selector from a query parameter: ``a=b,c in (d,e),!f``."""
    _check_length(text)
    return _Parser(text).parse() if text.strip() else EVERYTHING


def _check_length(text: str) -> None:
    if len(text) > LONGEST:
        raise SelectorError(f"a selector must be no more than {LONGEST} characters, this one has {len(text)}")


_SPECIAL = frozenset(("!=", "==", "=", "!", "<", ">", "(", ")", ",", ""))
_COMPARISONS = ("=", "==", "!=", "<", ">")


class _Parser:
    """Reads a label selector; an empty token is the end of the text."""

    def __init__(self, text: str) -> None:
        self.tokens = [match[1] or match[2] for match in _TOKEN.finditer(text.rstrip())]
        self.index = 0

    def peek(self) -> str:
        return self.tokens[self.index] if self.index < len(self.tokens) else ""

    def next(self) -> str:
        token = self.peek()
        self.index += 1
        return token

    def parse(self) -> Selector:
        if self.peek() in _SPECIAL - {"!"}:
            raise SelectorError(f"found '{self.peek()}', expected: !, identifier, or 'end of string'")
        requirements = []
        while True:
            try:
                requirements.append(self.requirement())
            except SelectorError as error:
                raise SelectorError(f"unable to parse requirement: {error}") from None
            token = self.next()
            if not token:
                return Selector(tuple(sorted(requirements, key=lambda requirement: requirement.key)))
            if token != ",":
                raise SelectorError(f"found '{token}', expected: ',' or 'end of string'")
            if self.peek() in _SPECIAL - {"!"}:
                raise SelectorError(f"found '{self.peek()}', expected: identifier after ','")

    def requirement(self) -> Requirement:
        absent = self.peek() == "!"
        if absent:
            self.next()
        key = self.identifier()
        problems = names.qualified_name(key)
        if problems:
            text = "; ".join(problems)
            raise SelectorError(f"<nil>: Invalid value: {go_format.quote(key)}: {text}")
        if absent:
            return Requirement(key, "!")
        if self.peek() in ("", ","):
            return Requirement(key, "exists")
        operator = self.next()
        if operator in _COMPARISONS:
            value = "" if self.peek() in ("", ",") else self.identifier()
            return self.compared(key, operator, value)
        if operator in ("in", "notin"):
            values = tuple(dict.fromkeys(self.values()))
            for place, value in enumerate(sorted(values)):
                _check_value(key, place, value)
            return Requirement(key, operator, values)
        raise SelectorError(f"found '{operator}', expected: in, notin, =, ==, !=, gt, lt")

    def identifier(self) -> str:
        token = self.next()
        if token in _SPECIAL:
            raise SelectorError(f"found '{token}', expected: identifier")
        return token

    def compared(self, key: str, operator: str, value: str) -> Requirement:
        if operator not in ("<", ">"):
            _check_value(key, 0, value)
            return Requirement(key, "notin" if operator == "!=" else "in", (value,))
        if not re.fullmatch(r"[+-]?[0-9]+", value):
            raise SelectorError(
                f"values[0]: Invalid value: {go_format.quote(value)}: for 'Gt', 'Lt' operators, the value must be an integer"
            )
        return Requirement(key, "gt" if operator == ">" else "lt", (value,))

    def values(self) -> list[str]:
        """Return what is between parentheses; nothing before, between or after commas is an empty value."""
        if (token := self.next()) != "(":
            raise SelectorError(f"found '{token}' expected: '('")
        if self.peek() in _SPECIAL - {",", ")"}:
            raise SelectorError(f"found '{self.peek()}', expected: ',', ')' or identifier")
        values, expected = [], True
        while (token := self.next()) != ")":
            if token == ",":
                if expected:
                    values.append("")
                expected = True
                continue
            if not expected:
                raise SelectorError(f"found '{token}', expected: ',' or ')'")
            if token in _SPECIAL:
                raise SelectorError(f"found '{token}', expected: ',', or identifier")
            values.append(token)
            expected = False
        return [*values, ""] if expected else values


def _check_value(key: str, place: int, value: str) -> None:
    problems = names.label_value(value)
    if problems:
        text = "; ".join(problems)
        raise SelectorError(f"values[{place}][{key}]: Invalid value: {go_format.quote(value)}: {text}")


_OPERATORS = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}


def from_object(selector: Mapping[str, Any] | None) -> Selector:
    """Return a selector from a LabelSelector object; absent matches nothing, empty matches everything."""
    if selector is None:
        return NOTHING
    requirements = [
        Requirement(key, "in", (value,)) for key, value in selector.get("matchLabels", {}).items()
    ]
    for expression in selector.get("matchExpressions", ()):
        name = expression.get("operator", "")
        operator = _OPERATORS.get(name)
        if operator is None:
            raise SelectorError(f"{go_format.quote(name)} is not a valid label selector operator")
        requirements.append(
            Requirement(expression.get("key", ""), operator, tuple(expression.get("values", ())))
        )
    return Selector(tuple(sorted(requirements, key=lambda requirement: requirement.key)))


def from_map(labels: Mapping[str, str] | None) -> Selector:
    """Return a selector from a plain map, as services have; an empty map matches everything."""
    return Selector(tuple(Requirement(key, "in", (value,)) for key, value in sorted((labels or {}).items())))


def parse_fields(text: str) -> list[tuple[str, str, bool]]:
    """Return a field selector: triples of field, value and whether they must be equal."""
    _check_length(text)
    requirements = []
    for part in _split(text):
        for operator, equal in (("!=", False), ("==", True), ("=", True)):
            name, separator, value = part.partition(operator)
            if separator:
                requirements.append((name, _unescape(value), equal))
                break
        else:
            raise SelectorError(f"invalid selector: '{part}'; can't understand '{part}'")
    return requirements


def _split(text: str) -> list[str]:
    """Return the parts between commas that are not escaped."""
    parts, start = [], 0
    for match in _COMMA.finditer(text):
        if match[0] == ",":
            parts.append(text[start : match.start()])
            start = match.end()
    return [part for part in [*parts, text[start:]] if part]


def _unescape(value: str) -> str:
    return _ESCAPE.sub(_unescaped, value)


def _unescaped(match: re.Match[str]) -> str:
    if match[0] == "=":
        raise SelectorError(f"invalid field selector: unescaped character in value: {ord('=')}")
    if match[1] not in ("\\", ",", "="):
        raise SelectorError(f"invalid field selector: invalid escape sequence: {match[0]}")
    return match[1]
