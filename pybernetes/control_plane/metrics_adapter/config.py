"""The rules: which series are metrics, of which objects, what they are called and how they are asked for. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.api.text.regular_expressions import compile_pattern

_FIELDS = ("Series", "LabelMatchers", "GroupBy")
_TEMPLATE = re.compile(r"<<\s*\.([A-Za-z]+)\s*>>")
_RULE = ("seriesQuery", "seriesFilters", "resources", "name", "metricsQuery")
_DURATION = re.compile(r"\$\{?([0-9]+)\}?")


class ConfigurationError(ValueError):
    """A rule cannot be used; the text says which and why."""


@dataclass(frozen=True)
class Rule:
    """One rule. ``overrides`` are labels with the (group, resource) that they name; ``label_template`` makes others."""

    series_query: str
    metrics_query: str
    filters: tuple[tuple[Any, bool], ...] = ()
    overrides: dict[str, tuple[str, str]] = field(default_factory=dict)
    label_template: str = ""
    namespaced: bool = True
    matches: Any = None
    called: str = ""

    def takes(self, series: str) -> bool:
        """Return whether a series passes the filters."""
        return all(bool(pattern.search(series)) is wanted for pattern, wanted in self.filters)

    def metric_name(self, series: str) -> str | None:
        """Return what a series is called as a metric; None if the rule is not for it."""
        if self.matches is None:
            return self.called or series
        matched = self.matches.search(series)
        if matched is None:
            return None
        if not self.called:
            return matched[1] if matched.re.groups else series

        def group(match: re.Match[str]) -> str:
            number = int(match[1])
            return (matched[number] or "") if number <= matched.re.groups else ""

        return _DURATION.sub(group, self.called)


def fill(template: str, values: dict[str, str]) -> str:
    """Return a template with everything filled in."""
    return _TEMPLATE.sub(lambda match: values[match[1]], template)


def read(document: Any) -> tuple[list[Rule], list[Rule]]:
    """Return the rules for custom and for external metrics; ConfigurationError names what cannot be."""
    if not isinstance(document, dict):
        raise ConfigurationError("the configuration is no map")
    unknown = sorted(set(document) - {"rules", "externalRules", "resourceRules"})
    if unknown:
        raise ConfigurationError(f"unknown field {unknown[0]!r}")
    if document.get("resourceRules"):
        raise ConfigurationError("resourceRules are not supported: metrics-server serves metrics.k8s.io")
    return (
        [
            _rule(rule, f"rules[{number}]", external=False)
            for number, rule in enumerate(document.get("rules") or ())
        ],
        [
            _rule(rule, f"externalRules[{number}]", external=True)
            for number, rule in enumerate(document.get("externalRules") or ())
        ],
    )


def _rule(rule: Any, where: str, *, external: bool) -> Rule:
    if not isinstance(rule, dict):
        raise ConfigurationError(f"{where} is no map")
    unknown = sorted(set(rule) - set(_RULE))
    if unknown:
        raise ConfigurationError(f"{where}: unknown field {unknown[0]!r}")
    resources, name = rule.get("resources") or {}, rule.get("name") or {}
    query, series = rule.get("metricsQuery") or "", rule.get("seriesQuery") or ""
    if not isinstance(series, str) or not series:
        raise ConfigurationError(f"{where}: seriesQuery is missing")
    _check_template(query, _FIELDS, f"{where}.metricsQuery")
    if not query:
        raise ConfigurationError(f"{where}: metricsQuery is missing")
    template = resources.get("template") or ""
    _check_template(template, ("Group", "Resource"), f"{where}.resources.template")
    overrides = {
        label: (entry.get("group") or "", entry.get("resource") or "")
        for label, entry in (resources.get("overrides") or {}).items()
    }
    if not external and not overrides and not template:
        raise ConfigurationError(f"{where}: resources needs overrides or a template")
    return Rule(
        series,
        query,
        tuple(_filter(entry, where) for entry in rule.get("seriesFilters") or ()),
        overrides,
        template,
        resources.get("namespaced") is not False,
        _pattern(name["matches"], where) if name.get("matches") else None,
        name.get("as") or "",
    )


def _filter(entry: Object, where: str) -> tuple[Any, bool]:
    if set(entry) == {"is"}:
        return _pattern(entry["is"], where), True
    if set(entry) == {"isNot"}:
        return _pattern(entry["isNot"], where), False
    raise ConfigurationError(f"{where}: a series filter has either is or isNot")


def _pattern(text: str, where: str) -> Any:
    try:
        return compile_pattern(text)
    except (ValueError, re.error) as error:
        raise ConfigurationError(f"{where}: {text!r} is no regular expression: {error}") from None


def _check_template(text: Any, known: tuple[str, ...], where: str) -> None:
    if not isinstance(text, str):
        raise ConfigurationError(f"{where} is no text")
    rest = _TEMPLATE.sub(lambda match: "" if match[1] in known else match[0], text)
    if "<<" in rest or ">>" in rest:
        names = ", ".join(f"<<.{name}>>" for name in known)
        raise ConfigurationError(f"{where}: of templates only {names} are supported")
