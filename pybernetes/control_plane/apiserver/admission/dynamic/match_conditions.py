"""Match conditions: expressions that narrow the writes that a webhook or a policy is asked about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pybernetes.api.cel import admission
from pybernetes.api.cel.engine import Environment
from pybernetes.control_plane.apiserver.admission.dynamic.evaluation import (
    Evaluation,
    Expression,
    OutOfBudget,
)
from pybernetes.lib.event_loop import off_loop


class Conditions:
    """The conditions of one webhook or policy, compiled when they are first needed."""

    def __init__(self, given: Iterable[dict[str, Any]], ignores_failure: bool) -> None:
        self._given = list(given)
        self._ignores = ignores_failure
        self._expressions: list[Expression] | None = None

    def __bool__(self) -> bool:
        return bool(self._given)

    async def match(self, evaluation: Evaluation, where: Environment | None = None) -> tuple[bool, str]:
        """Return whether all hold, and what is wrong if this cannot be said and counts."""
        problems = []
        try:
            for expression in await self._compiled(where):
                value, problem = await evaluation.run(expression)
                if value is False:
                    return False, ""
                if problem:
                    problems.append(problem)
        except OutOfBudget as error:
            problems = [str(error)]
        if not problems:
            return True, ""
        if self._ignores:
            return False, ""
        return False, problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"

    async def _compiled(self, where: Environment | None) -> list[Expression]:
        if self._expressions is None:
            self._expressions = await off_loop.beside(self._compile, where or admission.environment())
        return self._expressions

    def _compile(self, where: Environment) -> list[Expression]:
        return [Expression(condition["expression"], where, admission.CONDITION) for condition in self._given]
