"""ValidatingAdmissionPolicy: expressions that must hold for what is written."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import orjson

from pybernetes.api.cel import admission, cost
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.admission.attributes import Attributes
from pybernetes.control_plane.apiserver.admission.dynamic.evaluation import (
    Evaluation,
    Expression,
    OutOfBudget,
)
from pybernetes.control_plane.apiserver.admission.dynamic.policies import (
    Binding,
    Invocation,
    Policies,
    Policy,
)
from pybernetes.control_plane.apiserver.admission.dynamic.registered import Registered
from pybernetes.control_plane.apiserver.admission.plugin import PluginInputs
from pybernetes.lib.metrics.counts import Histograms
from pybernetes.lib.metrics.exposition import Exposition

_LABELS = ("policy", "policy_binding", "error_type", "enforcement_action")
_CODES = {"Forbidden": 403, "Unauthorized": 401, "RequestEntityTooLarge": 413, "Invalid": 422}
_FAILURES = "validation.policy.admission.k8s.io/validation_failure"
_MOST_FAILURES = 50
_LONGEST_MESSAGE = 5 * 1024
_LONGEST_ANNOTATION = 10 * 1024


class Check:
    """One validation of a policy."""

    def __init__(self, given: Object, policy: Policy) -> None:
        self.expression = Expression(given["expression"], policy.environment, admission.CONDITION)
        text = given.get("messageExpression")
        self.said = Expression(text, policy.plain, admission.MESSAGE) if text else None
        self.message = given.get("message", "").strip()
        self.reason = given.get("reason", "Invalid")


class Validating(Policy):
    """A policy that refuses."""

    def compile(self) -> None:
        """Compile validations and annotations, too."""
        super().compile()
        self.checks = [Check(given, self) for given in self.spec.get("validations", ())]
        self.annotations = [
            (given["key"], Expression(given["valueExpression"], self.plain, admission.ANNOTATION))
            for given in self.spec.get("auditAnnotations", ())
        ]


@dataclass(slots=True)
class Denial:
    """A validation that did not hold, or could not be evaluated."""

    index: int
    message: str
    reason: str = ""
    error: str = "no_error"  # what kept a validation from being evaluated, as metrics name it


class _Outcome:
    """What all policies together say of a write."""

    def __init__(self) -> None:
        self.refused: list[tuple[str, str]] = []  # message and reason
        self.failures: list[Object] = []
        self.notes: dict[str, list[str]] = {}


class ValidatingAdmissionPolicy(Registered[Validating]):
    """Asks the policies that concern a write."""

    name = "ValidatingAdmissionPolicy"
    order = 360
    on_by_default = True

    def __init__(self, inputs: PluginInputs) -> None:
        self._policies = Policies(
            inputs.context, "validatingadmissionpolicies", "validatingadmissionpolicybindings", Validating
        )
        super().__init__(self._policies.current, self._policies.places)
        self.checks = Histograms("apiserver_validating_admission_policy_check_duration_seconds",
                                 "Validation admission latency for individual validation expressions in seconds, labeled"
                                 " by policy and further including binding and enforcement action taken.",
                                 (0.0000005, 0.001, 0.01, 0.1, 1.0), _LABELS)  # fmt: skip
        inputs.context.metrics.more.append(self._render)

    validate = Registered.consult

    async def ask(self, attributes: Attributes, registered: list[Validating]) -> None:
        invocations, misconfigurations = await self._policies.invocations(attributes, registered)
        outcome = _Outcome()
        for misconfigured in misconfigurations:
            if not misconfigured.policy.ignores_failure:
                outcome.refused.append(
                    (_denied(misconfigured.policy, misconfigured.binding, misconfigured.message), "")
                )
        answers: dict[Any, Any] = {}
        for invocation in invocations:
            await self._one(invocation, attributes, outcome, answers)
        for key, notes in outcome.notes.items():
            attributes.annotations[key] = ", ".join(notes)
        if outcome.failures:
            attributes.annotations[_FAILURES] = orjson.dumps(outcome.failures[:_MOST_FAILURES]).decode()
        if outcome.refused:
            message, reason = outcome.refused[0]
            error = attributes.forbidden(message)
            error.reason = reason or "Invalid"
            error.code = _CODES.get(error.reason, 422)
            error.details = {**(error.details or {}), "causes": [{"message": message}]}
            raise error

    async def _one(
        self,
        invocation: Invocation[Validating],
        attributes: Attributes,
        outcome: _Outcome,
        answers: dict[Any, Any],
    ) -> None:
        policy, binding = invocation.policy, invocation.binding
        shown, request = await self._policies.shown(attributes, invocation.place)

        def evaluation(budget: int = cost.BUDGET) -> Evaluation:
            return self._policies.evaluation(
                attributes, policy, shown, request, invocation.param, answers, budget=budget
            )

        denials: list[Denial] = []
        if policy.conditions:
            narrowed = evaluation(cost.CONDITIONS_BUDGET)
            matched, problem = await policy.conditions.match(narrowed, policy.environment)
            if problem:
                denials.append(Denial(0, problem))
            elif not matched:
                return
        if not denials:
            began = time.monotonic()
            denials = await _validate(policy, evaluation())
            self._count(policy, binding, denials, time.monotonic() - began)
            await self._annotate(policy, binding, evaluation(), outcome)
        for denial in denials:
            _act(policy, binding, denial, attributes, outcome)

    def _count(self, policy: Validating, binding: Binding, denials: list[Denial], seconds: float) -> None:
        """Count each validation by what came of it; the time is shared among those of a policy."""
        share = seconds / (len(policy.checks) or 1)
        held = len(policy.checks) - len(denials)
        for _ in range(held):
            self.checks.observe(share, policy.name, binding.name, "no_error", "allow")
        for denial in denials:
            for action in binding.spec.get("validationActions", ()):
                self.checks.observe(share, policy.name, binding.name, denial.error, action.lower())

    def _render(self, text: Exposition) -> None:
        """Write how often policies were asked and how long that took; of those that are there no longer, nothing."""
        current = {
            (policy.name, binding.name) for policy in self._policies.current() for binding in policy.bindings
        }
        for values in [values for values in self.checks.values if values[:2] not in current]:
            del self.checks.values[values]
        name = "apiserver_validating_admission_policy_check_total"
        text.family(name, "counter", "Validation admission policy check total, labeled by policy and further identified"
                    " by binding and enforcement action taken.")  # fmt: skip
        for values, histogram in self.checks.values.items():
            text.sample(name, tuple(zip(_LABELS, values, strict=True)), histogram.number)
        self.checks.write(text)

    async def _annotate(
        self, policy: Validating, binding: Binding, evaluation: Evaluation, outcome: _Outcome
    ) -> None:
        for key, expression in policy.annotations:
            try:
                value, problem = await evaluation.run(expression)
            except OutOfBudget as error:
                value, problem = None, str(error)
            if problem:
                if not policy.ignores_failure:
                    outcome.refused.append((_denied(policy, binding, problem), ""))
            elif isinstance(value, str) and value.strip():
                noted = outcome.notes.setdefault(f"{policy.name}/{key}", [])
                text = value.strip()[:_LONGEST_ANNOTATION]
                if text not in noted:
                    noted.append(text)


async def _validate(policy: Validating, evaluation: Evaluation) -> list[Denial]:
    """Return the validations of a policy that do not hold."""
    denials = []
    try:
        for index, check in enumerate(policy.checks):
            value, problem = await evaluation.run(check.expression)
            if problem:
                if not policy.ignores_failure:
                    kind = "compile_error" if check.expression.error else "invalid_error"
                    denials.append(Denial(index, problem, error=kind))
            elif value is not True:
                denials.append(Denial(index, await _message(check, evaluation), check.reason))
    except OutOfBudget as error:
        return [] if policy.ignores_failure else [Denial(0, str(error), error="out_of_budget")]
    return denials


async def _message(check: Check, evaluation: Evaluation) -> str:
    text = ""
    if check.said is not None:
        value, _ = await evaluation.run(check.said)
        text = value.strip() if isinstance(value, str) else ""
        if "\n" in text or len(text.encode()) > _LONGEST_MESSAGE:
            text = ""
    return text or check.message or f"failed expression: {check.expression.source.strip()}"


def _denied(policy: Policy, binding: Binding | None, message: str) -> str:
    via = f" with binding '{binding.name}'" if binding is not None else ""
    return f"ValidatingAdmissionPolicy '{policy.name}'{via} denied request: {message}"


def _act(
    policy: Validating, binding: Binding, denial: Denial, attributes: Attributes, outcome: _Outcome
) -> None:
    """Do what the binding wants done about a validation that did not hold."""
    actions = binding.spec.get("validationActions", ())
    for action in actions:
        if action == "Deny":
            outcome.refused.append((_denied(policy, binding, denial.message), denial.reason))
        elif action == "Warn":
            start = f"Validation failed for ValidatingAdmissionPolicy '{policy.name}' with binding '{binding.name}'"
            attributes.warn(f"{start}: {denial.message}")
        elif action == "Audit":
            outcome.failures.append(
                {
                    "message": denial.message,
                    "policy": policy.name,
                    "binding": binding.name,
                    "expressionIndex": denial.index,
                    "validationActions": list(actions),
                }
            )


PLUGIN = ValidatingAdmissionPolicy
