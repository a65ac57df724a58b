"""Expressions of webhooks and policies, compiled once and evaluated about one write with a budget."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from typing import Any

from pybernetes.api import selectors
from pybernetes.api.cel import admission, cost
from pybernetes.api.cel.engine import CANCELLED, CelError, Environment, Program
from pybernetes.api.cel.library.authorizer import Authorizer, Decision, PathCheck, ResourceCheck
from pybernetes.api.cel.runtime import Failure
from pybernetes.api.cel.types import Type
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.admission.attributes import Attributes
from pybernetes.control_plane.apiserver.admission.dynamic.admission_review import Shown
from pybernetes.control_plane.apiserver.authn.user import User, service_account_groups, service_account_name
from pybernetes.control_plane.apiserver.authz.verdict import Verdict
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from pybernetes.lib.event_loop import off_loop

_OUT_OF_BUDGET = (
    "validation failed due to running out of cost budget, no further validation rules will be run"
)


class OutOfBudget(Exception):
    """All expressions together cost more than they may."""

    def __init__(self) -> None:
        super().__init__(_OUT_OF_BUDGET)


class Pending(Exception):
    """A question that an authorizer takes time to answer: the expression is evaluated again with the answer."""

    def __init__(self, key: Any, answer: Awaitable[Verdict]) -> None:
        super().__init__("waiting for an authorizer")
        self.key, self.answer = key, answer


class Expression:
    """An expression, or why it cannot be compiled."""

    __slots__ = ("error", "program", "source")

    def __init__(self, source: str, where: Environment, returns: Iterable[Type] = ()) -> None:
        self.source, self.error = source, ""
        self.program: Program | None = None
        try:
            self.program = admission.compile_expression(source, where, returns)
        except CelError as error:
            self.error = str(error)


class _Lazy(dict[str, Any]):
    """The variables of a policy, evaluated when they are first looked at."""

    def __init__(self, variables: admission.Variables, evaluation: Evaluation) -> None:
        super().__init__()
        self._variables, self._evaluation = variables, evaluation
        self._problems: dict[str, str] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._variables.programs or name in self._variables.errors

    def __missing__(self, name: str) -> Any:
        if name in self._problems:
            raise Failure(self._problems[name])
        program = self._variables.programs.get(name)
        if program is None:
            raise Failure(
                f'composited variable "{name}" fails to compile: {self._variables.errors.get(name)}'
            )
        try:
            value, spent = program.run(self._evaluation.data)
        except CelError as error:
            # What has no value has none for the next expression either.
            self._problems[name] = f'composited variable "{name}" fails to evaluate: {error}'
            raise Failure(self._problems[name]) from None
        self._evaluation.spent += spent
        self[name] = value
        return value


class Evaluation:
    """One write as expressions see it."""

    def __init__(
        self,
        context: ServerContext,
        attributes: Attributes,
        shown: Shown,
        request: Object,
        *,
        namespace: Object | None = None,
        params: Object | None = None,
        variables: admission.Variables | None = None,
        budget: int = cost.BUDGET,
        answers: dict[Any, Verdict] | None = None,
    ) -> None:
        self._context = context
        self.left, self.spent = budget, 0
        self._pace = off_loop.Pace()
        # The answers of authorizers, which hold for the whole write.
        self._answers = answers if answers is not None else {}
        authorizer = Authorizer(attributes.user, self._ask, _account)
        resource = attributes.resource
        self.data: dict[str, Any] = {
            "object": shown.obj,
            "oldObject": shown.old,
            "request": request,
            "namespaceObject": admission.namespace_object(namespace),
            "params": params,
            "authorizer": authorizer,
            admission.REQUEST_RESOURCE: ResourceCheck(
                authorizer, resource.group, resource.plural, attributes.subresource, attributes.namespace,
                attributes.name,
            ),
        }  # fmt: skip
        if variables is not None:
            self.data["variables"] = _Lazy(variables, self)

    async def run(self, expression: Expression) -> tuple[Any, str]:
        """Return the value, or why there is none; OutOfBudget if no more may be evaluated."""
        if expression.program is None:
            return None, f"compilation error: {expression.error}"
        while True:
            self.spent = 0
            try:
                value, spent = await off_loop.run_counting(0, expression.program.run, self.data)
                await self._pace()
            except Pending as waiting:
                self._answers[waiting.key] = await waiting.answer
                continue
            except CelError as error:
                self._pay(cost.PER_CALL_LIMIT if str(error) == CANCELLED else 0)
                return None, f"expression '{expression.source}' resulted in error: {error}"
            self._pay(spent)
            return value, ""

    def _pay(self, spent: int) -> None:
        self.left -= spent + self.spent
        if self.left < 0:
            raise OutOfBudget

    def _ask(self, check: PathCheck | ResourceCheck, verb: str) -> Decision:
        user = check.authorizer.user
        info = _question(check, verb)
        key = (user.name, user.uid, user.groups, info)
        verdict = self._answers.get(key)
        if verdict is None:
            answer = self._context.authorization.authorize(user, info)
            if not isinstance(answer, Verdict):
                raise Pending(key, answer)
            verdict = self._answers[key] = answer
        return Decision(verdict.allowed, verdict.reason)


def _account(namespace: str, name: str) -> User:
    groups = (*service_account_groups(namespace), "system:authenticated")
    return User(service_account_name(namespace, name), groups=groups)


def _question(check: PathCheck | ResourceCheck, verb: str) -> RequestInfo:
    if isinstance(check, PathCheck):
        return RequestInfo(verb, check.path)
    fields: tuple[Any, ...] = ()
    labels: tuple[Any, ...] = ()
    try:
        # What cannot be read only makes the question wider.
        fields = tuple(selectors.parse_fields(check.fields)) if check.fields else ()
        labels = selectors.parse_labels(check.labels).requirements if check.labels else ()
    except selectors.SelectorError:
        pass
    return RequestInfo(
        verb, is_resource=True, group=check.group, version="*", resource=check.resource,
        subresource=check.subresource, namespace=check.namespace, name=check.name, fields=fields, labels=labels,
    )  # fmt: skip
