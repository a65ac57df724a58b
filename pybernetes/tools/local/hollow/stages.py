"""What happens next to a pod on a hollow node: a pure function of the pod, the inputs and the stages."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from pybernetes.api.resource import Object
from pybernetes.tools.local.hollow.render import ABSENT, Inputs, lookup, render

_FOLDER = Path(__file__).parent


class Stage(NamedTuple):
    """One entry of the file of stages."""

    name: str
    when: Object
    after: float | str = 0.0
    status: Object | None = None
    delete: bool = False
    events: list[Any] = []


def read(path: Path) -> list[Stage]:
    """Return the stages in a file."""
    return [Stage(**entry) for entry in read_yaml(path)]


@lru_cache(maxsize=1)
def builtin() -> list[Stage]:
    """Return the stages that hollow nodes have unless told otherwise."""
    return read(_FOLDER / "stages.yaml")


@lru_cache(maxsize=1)
def node_template() -> Object:
    """Return what a hollow node looks like."""
    return read_yaml(_FOLDER / "node.yaml")


def read_yaml(path: Path) -> Any:
    """Return what a file of data says."""
    import yaml

    return yaml.load(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def matches(stage: Stage, pod: Object, inputs: Inputs) -> bool:
    """Return whether all conditions of a stage hold."""
    return holds(stage.when, pod, inputs)


def holds(conditions: Object, pod: Object, inputs: Inputs) -> bool:
    """Return whether all conditions hold."""
    for name, expected in conditions.items():
        value = lookup(pod, name) if name.startswith(".") else inputs.get(name, ABSENT)
        if not any(
            _is(value, alternative)
            for alternative in (expected if isinstance(expected, list) else [expected])
        ):
            return False
    return True


def _is(value: Any, expected: Any) -> bool:
    if expected == "absent":
        return value is ABSENT or value in ("", [], {})
    if expected == "present":
        return value is not ABSENT and value not in ("", [], {})
    return value == expected


def find(stages: list[Stage], pod: Object, inputs: Inputs) -> Stage | None:
    """Return the stage that is next for a pod."""
    return next((stage for stage in stages if matches(stage, pod, inputs)), None)


def delay(stage: Stage, inputs: Inputs) -> float:
    """Return for how many seconds a stage waits."""
    return float(inputs[stage.after] if isinstance(stage.after, str) else stage.after)


def status(stage: Stage, pod: Object, inputs: Inputs) -> Object:
    """Return the status of a pod after a stage."""
    old = pod.get("status", {})
    new = render(stage.status, pod, inputs)
    result = {**old, **new}
    if "conditions" in new:
        result["conditions"] = _conditions(old.get("conditions") or [], new["conditions"], inputs["now"])
    return result


def events(stage: Stage, pod: Object, inputs: Inputs) -> list[Object]:
    """Return what is reported when a stage has been taken: reason, message, and the container it is about, if any."""
    return list(_flat(render(stage.events, pod, inputs)))


def _flat(value: Any) -> Iterator[Object]:
    """Return the maps in a list of lists of maps."""
    if isinstance(value, list):
        for item in value:
            yield from _flat(item)
    else:
        yield value


def _conditions(old: list[Object], new: list[Any], now: str) -> list[Object]:
    """Return new conditions over old ones; the transition time is kept while the status is."""
    old_by_type = {condition["type"]: condition for condition in old}
    result = dict(old_by_type) if "$keep" in new else {}
    for condition in new:
        if isinstance(condition, dict):
            before = old_by_type.get(condition["type"])
            same = before is not None and before["status"] == condition["status"]
            since = before.get("lastTransitionTime", now) if same and before else now
            result[condition["type"]] = {**condition, "lastTransitionTime": since}
    return list(result.values())
