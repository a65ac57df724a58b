"""priority: the group of the highest priority by the ConfigMap cluster-autoscaler-priority-expander."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pybernetes.api.text.regular_expressions import PatternError, compile_pattern
from pybernetes.control_plane.autoscaler.scale_up.estimator import Option
from pybernetes.control_plane.autoscaler.scale_up.expander import PRIORITIES, Context

SUMMARY = f"the group of the highest priority by the ConfigMap {PRIORITIES}"
_MOST_BYTES, _MOST_RULES = 64 << 10, 1000

Priorities = dict[int, list[Any]]  # patterns of RE2: no name of a group can hold them up


def parse(text: str) -> Priorities:
    """Return patterns by priority; ValueError if the text is no such thing."""
    import yaml

    if not text:
        raise ValueError(
            f"priority configuration in {PRIORITIES} configmap is empty; please provide valid configuration"
        )
    if len(text) > _MOST_BYTES:
        raise ValueError(
            f"priority configuration in {PRIORITIES} configmap has more than {_MOST_BYTES} bytes"
        )
    try:
        config = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"Can't parse YAML with priorities in the configmap: {error}") from None
    if not isinstance(config, dict) or sum(len(rules or ()) for rules in config.values()) > _MOST_RULES:
        raise ValueError(
            "Can't parse YAML with priorities in the configmap: lists of texts by number are needed"
        )
    result: Priorities = {}
    for priority, rules in config.items():
        if not isinstance(priority, int) or not isinstance(rules, list):
            raise ValueError(
                "Can't parse YAML with priorities in the configmap: lists of texts by number are needed"
            )
        for rule in rules:
            try:
                result.setdefault(priority, []).append(compile_pattern(str(rule)))
            except PatternError as error:
                raise ValueError(
                    f"Can't compile regexp rule for priority {priority} and rule {rule}: {error}"
                ) from None
    return result


async def best(options: Sequence[Option], context: Context) -> list[Option]:
    """Return the options of the highest priority; all if there is no valid configuration."""
    if context.priorities is None:
        return list(options)
    data = (context.priorities.get("data") or {}).get("priorities")
    if data is None:
        context.warn(
            "PriorityConfigMapInvalid",
            "Wrong configmap for priority expander, doesn't contain priorities key. Ignoring update.",
        )
        return list(options)
    try:
        priorities = parse(data)
    except ValueError as error:
        context.warn(
            "PriorityConfigMapInvalid",
            f"Wrong configuration for priority expander: {error}. Ignoring update.",
        )
        return list(options)
    result, highest = [], -1
    for option in options:
        own = [
            number for number, rules in priorities.items() if any(rule.search(option.group) for rule in rules)
        ]
        if not own:
            text = f"Priority expander: node group {option.group} not found in priority expander configuration. The group won't be used."
            context.warn("PriorityConfigMapNotMatchedGroup", text)
        elif max(own) > highest:
            result, highest = [option], max(own)
        elif max(own) == highest:
            result.append(option)
    if not result:
        text = "Priority expander: no priorities info found for any of the expansion options. No options filtered."
        context.warn("PriorityConfigMapNoGroupMatched", text)
        return list(options)
    return result
