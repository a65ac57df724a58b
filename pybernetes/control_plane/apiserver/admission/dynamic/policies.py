"""Admission policies with their bindings: made ready once for every change of them, matched, given their parameters."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pybernetes.api import errors, selectors
from pybernetes.api.cel import admission, types
from pybernetes.api.errors import StatusError
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.admission.attributes import Attributes
from pybernetes.control_plane.apiserver.admission.dynamic import admission_review
from pybernetes.control_plane.apiserver.admission.dynamic.admission_review import Shown
from pybernetes.control_plane.apiserver.admission.dynamic.evaluation import Evaluation
from pybernetes.control_plane.apiserver.admission.dynamic.match_conditions import Conditions
from pybernetes.control_plane.apiserver.admission.dynamic.matching import (
    GroupVersionResource,
    Matcher,
    MatchInputs,
    namespace_of,
    resource_of,
)
from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.lib.event_loop import off_loop

_GROUP = "admissionregistration.k8s.io"


class ConfigurationError(Exception):
    """A policy or a binding cannot be used as it is."""


class Binding:
    """Where a policy is used, and with which parameters."""

    def __init__(self, obj: Object) -> None:
        self.name: str = obj["metadata"]["name"]
        self.spec = obj["spec"]
        match = self.spec.get("matchResources")
        self.matcher = None if match is None else Matcher(match, match.get("resourceRules", ()), every=True)


class Policy:
    """What policies of both sorts share."""

    def __init__(self, obj: Object, bindings: list[Binding], *, patches: bool = False) -> None:
        self.name: str = obj["metadata"]["name"]
        self.spec, self.bindings = obj["spec"], bindings
        self.param_kind: Object | None = self.spec.get("paramKind")
        match = self.spec.get("matchConstraints", {})
        self.matcher = Matcher(match, match.get("resourceRules", ()))
        self.ignores_failure = self.spec.get("failurePolicy", "Fail") == "Ignore"
        self.conditions = Conditions(self.spec.get("matchConditions", ()), self.ignores_failure)
        self._how: dict[str, Any] = {"params": types.DYN if self.param_kind else None, "patches": patches}
        self._compiling, self._is_compiled = asyncio.Lock(), False

    async def compiled(self) -> None:
        """Compile the expressions when they are first needed: there can be thousands of them."""
        if self._is_compiled:
            return
        async with self._compiling:
            if not self._is_compiled:
                await off_loop.beside(self.compile)
                self._is_compiled = True

    def compile(self) -> None:
        """Compile what policies of both sorts have."""
        self.variables = admission.Variables(self.spec.get("variables", ()), **self._how)
        self.environment = admission.environment(**self._how, variables=self.variables.type)
        # Messages and annotations are for everybody, so that they do not ask authorizers.
        self.plain = admission.environment(**self._how, variables=self.variables.type, authorizer=False)


P = TypeVar("P", bound=Policy)


@dataclass(slots=True)
class Invocation(Generic[P]):
    """A policy that concerns a write, by way of a binding, with one parameter or none."""

    policy: P
    binding: Binding
    place: GroupVersionResource
    param: Object | None


@dataclass(slots=True)
class Misconfigured(Generic[P]):
    """A policy that concerns a write and cannot be used."""

    policy: P
    binding: Binding | None
    message: str


class Policies(Generic[P]):
    """All policies of one sort that have bindings, in the order of their names."""

    def __init__(
        self, context: ServerContext, policies: str, bindings: str, make: Callable[[Object, list[Binding]], P]
    ) -> None:
        self._context, self._make = context, make
        self._policies, self._bindings = Lookup(context, _GROUP, policies), Lookup(context, _GROUP, bindings)
        # Every write asks whether something changed, so that this is all that it asks.
        place = context.store.place
        self.places = place(self._policies.kind.prefix), place(self._bindings.kind.prefix)
        self._seen = (-1, -1)
        self._current: list[P] = []
        # A policy that did not change is not compiled again because another one did.
        self._kept: dict[str, tuple[Object, list[Object], P]] = {}
        self.match_inputs = MatchInputs(context)

    def current(self) -> list[P]:
        """Return what is in force now."""
        changed = self.places[0].changed, self.places[1].changed
        if changed != self._seen:
            self._seen = changed
            self._current = self._build(self._policies.all(), self._bindings.all())
        return self._current

    def _build(self, policies: tuple[Object, ...], bindings: tuple[Object, ...]) -> list[P]:
        by_policy: dict[str, list[Object]] = {}
        for binding in sorted(bindings, key=lambda obj: obj["metadata"]["name"]):
            by_policy.setdefault(binding["spec"]["policyName"], []).append(binding)
        kept, ready = {}, []
        for policy in sorted(policies, key=lambda obj: obj["metadata"]["name"]):
            name = policy["metadata"]["name"]
            bound = by_policy.get(name)
            if bound is None:
                continue
            held = self._kept.get(name)
            if held is not None and held[0]["spec"] == policy["spec"] and held[1] == bound:
                made = held[2]
            else:
                made = self._make(policy, [Binding(binding) for binding in bound])
            kept[name] = (policy, bound, made)
            ready.append(made)
        self._kept = kept
        return ready

    async def invocations(
        self, attributes: Attributes, policies: list[P]
    ) -> tuple[list[Invocation[P]], list[Misconfigured[P]]]:
        """Return what concerns a write, and what should but cannot."""
        invocations: list[Invocation[P]] = []
        broken: list[Misconfigured[P]] = []
        for policy in policies:
            try:
                place = policy.matcher.place(attributes, self.match_inputs)
                if place is None:
                    continue
                kind = self._param_kind(policy)
            except (StatusError, ConfigurationError) as error:
                broken.append(Misconfigured(policy, None, f"failed to configure policy: {error}"))
                continue
            for binding in policy.bindings:
                try:
                    if binding.matcher is not None and not binding.matcher.place(
                        attributes, self.match_inputs
                    ):
                        continue
                    params = await self._params(policy, binding, kind, attributes)
                    if params:
                        await policy.compiled()
                except (StatusError, ConfigurationError) as error:
                    broken.append(Misconfigured(policy, binding, f"failed to configure binding: {error}"))
                    continue
                invocations += [Invocation(policy, binding, place, param) for param in params]
        return invocations, broken

    def _param_kind(self, policy: P) -> Kind | None:
        wanted = policy.param_kind
        if wanted is None:
            return None
        for kind in self._context.kinds:
            if kind.resource.api_version == wanted["apiVersion"] and kind.resource.kind == wanted["kind"]:
                return kind
        version = wanted["apiVersion"]
        shown = f"{version if '/' in version else '/' + version}, Kind={wanted['kind']}"
        raise ConfigurationError(f"failed to find resource referenced by paramKind: '{shown}'")

    async def _params(
        self, policy: P, binding: Binding, kind: Kind | None, attributes: Attributes
    ) -> list[Object | None]:
        """Return the parameters for a write; one None if the policy is to be used without."""
        reference = binding.spec.get("paramRef")
        if kind is None or reference is None:
            return [None]
        namespace = reference.get("namespace", "")
        if kind.namespaced:
            namespace = namespace or namespace_of(attributes)
            if not namespace:
                raise ConfigurationError(
                    "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
                )
        elif namespace:
            raise ConfigurationError(
                "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
            )
        store = self._context.store
        if reference.get("name"):
            record = store.get(kind.key(namespace, reference["name"]))
            records = [] if record is None else [record]
            await kind.convert(records)
        else:
            selector = selectors.from_object(reference["selector"])
            records = store.list(kind.collection(namespace)).records
            await kind.convert(records)
            records = [record for record in records if selector.matches(kind.labels(record))]
        params: list[Object | None] = [kind.shared(record) for record in records]
        if not params and reference.get("parameterNotFoundAction") == "Deny":
            raise ConfigurationError("no params found for policy binding with `Deny` parameterNotFoundAction")
        return params

    async def shown(self, attributes: Attributes, place: GroupVersionResource) -> tuple[Shown, Object]:
        """Return the write as one of a place, and its request."""
        own, target = self.match_inputs.kind(resource_of(attributes)), self.match_inputs.kind(place)
        if own is None or target is None:
            raise errors.internal(f"unable to convert to {place}: unknown kind")
        shown = await admission_review.show(self._context, attributes, own, target)
        request = admission_review.request_of(attributes, shown, own, "")
        del request["uid"]
        return shown, request

    def namespace(self, attributes: Attributes) -> Object | None:
        """Return the namespace of a write, for expressions; a namespace is in none."""
        if not attributes.namespace or attributes.resource.plural == "namespaces":
            return None
        namespace = self.match_inputs.namespace(attributes.namespace)
        if namespace is None:
            raise errors.not_found("", "namespaces", attributes.namespace)
        return namespace

    def evaluation(
        self,
        attributes: Attributes,
        policy: P,
        shown: Shown,
        request: Object,
        param: Object | None,
        answers: dict[Any, Any],
        **more: Any,
    ) -> Evaluation:
        """Return the write as the expressions of a policy see it."""
        return Evaluation(
            self._context, attributes, shown, request, namespace=self.namespace(attributes), params=param,
            variables=policy.variables, answers=answers, **more,
        )  # fmt: skip
