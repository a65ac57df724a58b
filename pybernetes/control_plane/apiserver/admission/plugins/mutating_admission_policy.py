"""MutatingAdmissionPolicy: expressions that change what is written."""

from __future__ import annotations

from typing import Any

from pybernetes.api.cel import admission, cost
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.admission.attributes import Attributes
from pybernetes.control_plane.apiserver.admission.dynamic import mutation, patches
from pybernetes.control_plane.apiserver.admission.dynamic.evaluation import Expression, OutOfBudget
from pybernetes.control_plane.apiserver.admission.dynamic.policies import (
    Binding,
    Invocation,
    Policies,
    Policy,
)
from pybernetes.control_plane.apiserver.admission.dynamic.registered import Registered
from pybernetes.control_plane.apiserver.admission.dynamic.reinvocation import Reinvocation, reinvocation_of
from pybernetes.control_plane.apiserver.admission.plugin import PluginInputs
from pybernetes.control_plane.apiserver.codec.body_weight import object_weight
from pybernetes.lib.event_loop import off_loop

_ENTRY_BYTES = 16  # that an entry of what an expression makes takes at least when it is written


class Mutating(Policy):
    """A policy that changes."""

    def __init__(self, obj: Object, bindings: list[Binding]) -> None:
        super().__init__(obj, bindings, patches=True)
        self.reinvoked = self.spec.get("reinvocationPolicy") == "IfNeeded"

    def compile(self) -> None:
        """Compile the mutations, too."""
        super().compile()
        self.mutations: list[tuple[bool, Expression]] = []
        for given in self.spec.get("mutations", ()):
            applies = given["patchType"] == "ApplyConfiguration"
            source = given["applyConfiguration" if applies else "jsonPatch"]["expression"]
            returns = admission.APPLY if applies else admission.PATCH
            self.mutations.append((applies, Expression(source, self.environment, returns)))


class MutatingAdmissionPolicy(Registered[Mutating]):
    """Lets the policies that concern a write change it, one after the other."""

    name = "MutatingAdmissionPolicy"
    order = 340
    on_by_default = True

    def __init__(self, inputs: PluginInputs) -> None:
        self._context = inputs.context
        self._policies = Policies(
            inputs.context, "mutatingadmissionpolicies", "mutatingadmissionpolicybindings", Mutating
        )
        super().__init__(self._policies.current, self._policies.places)

    mutate = Registered.consult

    async def ask(self, attributes: Attributes, registered: list[Mutating]) -> None:
        if attributes.obj is None:
            return
        invocations, misconfigurations = await self._policies.invocations(attributes, registered)
        problems = [
            (
                misconfigured.policy,
                _denied(misconfigured.policy, misconfigured.binding, misconfigured.message),
                "",
            )
            for misconfigured in misconfigurations
        ]
        reinvocation = reinvocation_of(attributes, self.name)
        answers: dict[Any, Any] = {}
        for invocation in invocations:
            problem = await self._one(invocation, attributes, reinvocation, answers)
            if problem:
                policy = invocation.policy
                problems.append((policy, _denied(policy, invocation.binding, problem), "Invalid"))
        reinvocation.note(attributes)
        counted = [(message, reason) for policy, message, reason in problems if not policy.ignores_failure]
        if counted:
            error = attributes.forbidden("")
            error.message, reason = counted[0]
            error.reason = reason or error.reason
            causes = [{"message": message} for message, _ in counted]
            error.details = {**(error.details or {}), "causes": causes}
            raise error

    async def _one(
        self,
        invocation: Invocation[Mutating],
        attributes: Attributes,
        reinvocation: Reinvocation,
        answers: dict[Any, Any],
    ) -> str:
        """Apply one policy and return what is wrong with it."""
        policy, param = invocation.policy, invocation.param
        shown, request = await self._policies.shown(attributes, invocation.place)
        if policy.conditions:
            narrowed = self._policies.evaluation(
                attributes, policy, shown, request, param, answers, budget=cost.CONDITIONS_BUDGET
            )
            matched, problem = await policy.conditions.match(narrowed, policy.environment)
            if problem or not matched:
                return problem
        key = (policy.name, invocation.binding.name, _identity(param))
        if attributes.again and key not in reinvocation.again:
            return ""
        changed, problem = False, ""
        for applies, expression in policy.mutations:
            shown, request = await self._policies.shown(attributes, invocation.place)
            evaluation = self._policies.evaluation(attributes, policy, shown, request, param, answers)
            try:
                value, why = await evaluation.run(expression)
            except OutOfBudget as error:
                value, why = None, str(error)
            if not why:
                try:
                    target = self._context.kinds.get(*invocation.place)
                    assert target is not None and shown.obj is not None
                    change = patches.applied if applies else patches.patched
                    made = await off_loop.run_counting(0, patches.weight, value)
                    size = object_weight(shown.obj) + _ENTRY_BYTES * made
                    new = await off_loop.run(size, change, shown.obj, value, target.resource)
                except patches.PatchError as error:
                    why = str(error)
                else:
                    changed = (
                        await mutation.take(self._context, attributes, shown, new, object_weight(new))
                        or changed
                    )
            problem = problem or why
        if changed:
            reinvocation.changed()
            attributes.wants_again = True
        if policy.reinvoked:
            reinvocation.asked.add(key)
        return problem


def _identity(param: Object | None) -> tuple[str, str] | None:
    if param is None:
        return None
    return param["metadata"].get("namespace", ""), param["metadata"]["name"]


def _denied(policy: Policy, binding: Binding | None, message: str) -> str:
    if binding is None:
        return f'policy "{policy.name}" denied request: {message}'
    return f"policy '{policy.name}' with binding '{binding.name}' denied request: {message}"


PLUGIN = MutatingAdmissionPolicy
