"""Match conditions: expressions that say which questions a webhook is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from pybernetes.api.cel import types
from pybernetes.api.cel.admission import compile_expression
from pybernetes.api.cel.engine import CelError, Environment, Program
from pybernetes.api.cel.types import BOOL, STRING, Type
from pybernetes.api.field import Errors, Path
from pybernetes.api.strict_types import aggregate

_MOST = 64


@cache
def environment() -> Environment:
    """Return what expressions see: ``request`` is the spec of the SubjectAccessReview."""
    strings = types.list_of(STRING)

    def made(name: str, /, **fields: Type) -> Type:
        return types.object_of(f"kubernetes.{name}", fields)

    requirement = made("SelectorRequirement", key=STRING, operator=STRING, values=strings)
    selector = made("SelectorAttributes", rawSelector=STRING, requirements=types.list_of(requirement))
    resource = made(
        "ResourceAttributes", namespace=STRING, verb=STRING, group=STRING, version=STRING, resource=STRING,
        subresource=STRING, name=STRING, fieldSelector=selector, labelSelector=selector,
    )  # fmt: skip
    other = made("NonResourceAttributes", path=STRING, verb=STRING)
    request = made(
        "SubjectAccessReviewSpec", resourceAttributes=resource, nonResourceAttributes=other, user=STRING,
        groups=strings, extra=types.map_of(STRING, strings), uid=STRING,
    )  # fmt: skip
    return Environment({"request": request})


def compile_all(conditions: Iterable[Mapping[str, Any]], path: Path, problems: Errors) -> list[Program]:
    """Return the compiled conditions; what is wrong with them is added to the problems."""
    given = list(conditions)
    if len(given) > _MOST:
        problems.too_many(path, len(given), _MOST)
        return []
    programs: list[Program] = []
    seen: set[str] = set()
    for index, condition in enumerate(given):
        where, source = path[index] / "expression", condition.get("expression", "")
        if not source.strip():
            problems.required(where)
        elif source in seen:
            problems.duplicate(where, source)
        else:
            seen.add(source)
            try:
                programs.append(compile_expression(source, environment(), [BOOL]))
            except CelError as error:
                problems.invalid(where, source, str(error))
    return programs


def matches(programs: Iterable[Program], request: Mapping[str, Any]) -> bool:
    """Return whether all conditions hold; CelError if one cannot be evaluated and none says no."""
    problems: list[str] = []
    for program in programs:
        try:
            if not program.evaluate({"request": request}):
                return False
        except CelError as error:
            problems.append(f"cel evaluation error: expression '{program.source}' resulted in error: {error}")
    if problems:
        raise CelError(aggregate(problems))
    return True
