"""Match conditions: expressions that narrow the writes that a webhook or a policy is asked about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pybernetes.api import errors
from pybernetes.api.cel.engine import CelError, Environment, Program
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.admission.chain import Attributes
from pybernetes.control_plane.apiserver.admission.review import Shown
from pybernetes.control_plane.apiserver.api import Api

_ENVIRONMENT = Environment({"object": "dyn", "oldObject": "dyn", "request": "dyn"})


class Conditions:
    """The conditions of one webhook or policy, compiled when they are first needed."""

    def __init__(self, given: Iterable[dict[str, Any]], ignores_failure: bool) -> None:
        self._given = list(given)
        self._ignores = ignores_failure
        self._programs: list[Program | str] | None = None

    def __bool__(self) -> bool:
        return bool(self._given)

    async def match(self, api: Api, attributes: Attributes, shown: Shown, request: Object) -> bool:
        """Whether all hold; StatusError if one cannot be evaluated and this counts."""
        data = {"object": shown.obj, "oldObject": shown.old, "request": request}
        problems = []
        for program in self._compiled():
            if isinstance(program, str):
                problems.append(program)
                continue
            try:
                if program.evaluate(data) is False:
                    return False
            except CelError as error:
                problems.append(str(error))
        if not problems:
            return True
        if self._ignores:
            return False
        why = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
        raise errors.forbidden(attributes.resource.group, attributes.resource.plural, attributes.name, why)

    def _compiled(self) -> list[Program | str]:
        if self._programs is None:
            self._programs = [_compile(condition["expression"]) for condition in self._given]
        return self._programs


def _compile(expression: str) -> Program | str:
    try:
        return _ENVIRONMENT.compile(expression)
    except CelError as error:
        return f"compilation error: {error}"
