"""What happens next to a pod on a hollow node: a pure function of the pod, the facts and the stages."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from pybernetes.tools.local.hollow.render import ABSENT, Facts, Object, lookup, render

_FOLDER = Path(__file__).parent


class Stage(NamedTuple):
    """One entry of the file."""

    name: str
    when: dict[str, Any]
    after: float | str = 0.0
    status: Object | None = None
    delete: bool = False


def read(path: Path) -> list[Stage]:
    """Return the stages in a file."""
    return [Stage(**entry) for entry in _yaml(path)]


@lru_cache(maxsize=1)
def builtin() -> list[Stage]:
    """Return the stages that hollow nodes have unless told otherwise."""
    return read(_FOLDER / "stages.yaml")


@lru_cache(maxsize=1)
def node_template() -> Object:
    """Return what a hollow node looks like."""
    return _yaml(_FOLDER / "node.yaml")


def _yaml(path: Path) -> Any:
    import yaml

    return yaml.load(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def matches(stage: Stage, pod: Object, facts: Facts) -> bool:
    """Return whether all conditions of a stage hold."""
    for name, wanted in stage.when.items():
        value = lookup(pod, name) if name.startswith(".") else facts.get(name, ABSENT)
        if not any(_is(value, each) for each in (wanted if isinstance(wanted, list) else [wanted])):
            return False
    return True


def _is(value: Any, wanted: Any) -> bool:
    if wanted == "absent":
        return value is ABSENT or value in ("", [], {})
    if wanted == "present":
        return value is not ABSENT and value not in ("", [], {})
    return value == wanted


def find(stages: list[Stage], pod: Object, facts: Facts) -> Stage | None:
    """Return the stage that is next for a pod."""
    return next((stage for stage in stages if matches(stage, pod, facts)), None)


def delay(stage: Stage, facts: Facts) -> float:
    """For how long a stage waits."""
    return float(facts[stage.after] if isinstance(stage.after, str) else stage.after)


def status(stage: Stage, pod: Object, facts: Facts) -> Object:
    """Return the status of a pod after a stage."""
    old = pod.get("status", {})
    new = render(stage.status, pod, facts)
    result = {**old, **new}
    if "conditions" in new:
        result["conditions"] = _conditions(old.get("conditions") or [], new["conditions"], facts["now"])
    return result


def _conditions(old: list[Object], new: list[Any], now: str) -> list[Object]:
    """New conditions over old ones; the time of a transition is kept while the status is."""
    known = {each["type"]: each for each in old}
    found = dict(known) if "$keep" in new else {}
    for each in new:
        if isinstance(each, dict):
            before = known.get(each["type"])
            same = before is not None and before["status"] == each["status"]
            since = before.get("lastTransitionTime", now) if same and before else now
            found[each["type"]] = {**each, "lastTransitionTime": since}
    return list(found.values())
