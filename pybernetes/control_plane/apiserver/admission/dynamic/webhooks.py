"""The webhooks that are registered, made ready once for every change of their configurations, and called."""

from __future__ import annotations

import time
import uuid
from typing import Any

from pybernetes.api import errors
from pybernetes.api.cel import cost
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.admission.attributes import Attributes
from pybernetes.control_plane.apiserver.admission.dynamic import admission_review
from pybernetes.control_plane.apiserver.admission.dynamic.admission_review import Answer, Shown
from pybernetes.control_plane.apiserver.admission.dynamic.evaluation import Evaluation
from pybernetes.control_plane.apiserver.admission.dynamic.match_conditions import Conditions
from pybernetes.control_plane.apiserver.admission.dynamic.matching import Matcher, MatchInputs, resource_of
from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.webhooks.caller import Caller, CallFailed

_GROUP = "admissionregistration.k8s.io"


class CallError(Exception):
    """A webhook could not be asked, or gave an answer that makes no sense: its failure policy decides."""


class Webhook:
    """One webhook of a configuration."""

    def __init__(self, configuration: Object, given: dict[str, Any], index: int) -> None:
        self.configuration: str = configuration["metadata"]["name"]
        self.name: str = given["name"]
        self.uid = f"{self.configuration}/{self.name}/{index}"
        self.client: dict[str, Any] = given.get("clientConfig", {})
        self.matcher = Matcher(given, given.get("rules", ()))
        self.ignores_failure = given.get("failurePolicy", "Fail") == "Ignore"
        self.conditions = Conditions(given.get("matchConditions", ()), self.ignores_failure)
        self.seconds = float(given.get("timeoutSeconds", 10))
        self.dry_runs = given.get("sideEffects") in ("None", "NoneOnDryRun")
        self.reinvoked = given.get("reinvocationPolicy") == "IfNeeded"
        versions = given.get("admissionReviewVersions", ())
        self.version = next(
            (version for version in versions if version in admission_review.KNOWN_VERSIONS), ""
        )


class Invocation:
    """A webhook that is to be called for a write, and how it sees it."""

    __slots__ = ("hook", "index", "shown")

    def __init__(self, hook: Webhook, index: int, shown: Shown) -> None:
        self.hook, self.index, self.shown = hook, index, shown


class Webhooks:
    """All webhooks of one sort, in the order of the names of their configurations."""

    def __init__(self, context: ServerContext, plural: str, mutating: bool) -> None:
        self._context, self._mutating = context, mutating
        self._lookup = Lookup(context, _GROUP, plural)
        # Every write asks whether something changed, so that this is all that it asks.
        self.places = (context.store.place(self._lookup.kind.prefix),)
        self._seen = -1
        self._webhooks: list[Webhook] = []
        self._surroundings = MatchInputs(context)
        self._caller = Caller(context)
        self._sort = "admit" if mutating else "validating"
        if context.webhook_metrics.render not in context.metrics.more:
            context.metrics.more.append(context.webhook_metrics.render)

    def current(self) -> list[Webhook]:
        """Return what is registered now."""
        changed = self.places[0].changed
        if changed != self._seen:
            self._seen = changed
            configurations = self._lookup.all()
            ordered = sorted(configurations, key=lambda configuration: configuration["metadata"]["name"])
            self._webhooks = [
                Webhook(configuration, given, index)
                for configuration in ordered
                for index, given in enumerate(configuration.get("webhooks", ()))
            ]
        return self._webhooks

    async def invocation(self, hook: Webhook, index: int, attributes: Attributes) -> Invocation | None:
        """Return how a webhook is to be called for a write, or None if it is not."""
        place = hook.matcher.place(attributes, self._surroundings)
        if place is None:
            return None
        own = self._surroundings.kind(resource_of(attributes))
        target = self._surroundings.kind(place)
        if own is None or target is None:
            return None
        shown = await admission_review.show(self._context, attributes, own, target)
        if hook.conditions:
            request = admission_review.request_of(attributes, shown, own, "")
            evaluation = Evaluation(self._context, attributes, shown, request, budget=cost.CONDITIONS_BUDGET)
            matched, problem = await hook.conditions.match(evaluation)
            if problem:
                resource = attributes.resource
                raise errors.forbidden(resource.group, resource.plural, attributes.name, problem)
            if not matched:
                return None
        return Invocation(hook, index, shown)

    async def call(self, invocation: Invocation, attributes: Attributes) -> Answer:
        """Call a webhook and count it; CallError, or StatusError if a dry run is none for it."""
        begin = time.monotonic()
        try:
            return await self._counted(invocation, attributes, begin)
        finally:
            if attributes.request is not None:
                aside, seconds = attributes.request.aside(), time.monotonic() - begin
                if self._sort == "admit":
                    aside.mutating += seconds
                else:  # all of them are called at once
                    aside.validating = max(aside.validating, seconds)

    async def _counted(self, invocation: Invocation, attributes: Attributes, begin: float) -> Answer:
        hook, operation = invocation.hook, attributes.operation
        metrics, sort = self._context.webhook_metrics, self._sort
        try:
            answer = await self._call(invocation, attributes)
        except CallError:
            seconds = time.monotonic() - begin
            metrics.called(hook.name, sort, operation, 503, not hook.ignores_failure, seconds)
            if hook.ignores_failure:
                metrics.failed_open(hook.name, sort)
            else:
                metrics.rejected(hook.name, sort, operation, "calling_webhook_error", 503)
            raise
        code = 200 if answer.allowed else max(400, answer.status.get("code") or 0)
        metrics.called(hook.name, sort, operation, code, not answer.allowed, time.monotonic() - begin)
        if not answer.allowed:
            metrics.rejected(hook.name, sort, operation, "no_error", code)
        return answer

    async def _call(self, invocation: Invocation, attributes: Attributes) -> Answer:
        hook, shown = invocation.hook, invocation.shown
        if attributes.dry_run and not hook.dry_runs:
            raise admission_review.no_dry_run(hook.name)
        if not hook.version:
            why = "webhook does not accept known AdmissionReview versions (v1, v1beta1)"
            raise CallError(f"could not create admission objects: {why}")
        own = self._surroundings.kind(resource_of(attributes))
        assert own is not None
        uid = str(uuid.uuid4())
        request = admission_review.request_of(attributes, shown, own, uid)
        sent = admission_review.review(request, shown, hook.version)
        try:
            answer = await self._caller.post(
                hook.client, sent, hook.seconds,
                lambda value: admission_review.answer(value, uid, hook.version, self._mutating),
            )  # fmt: skip
        except CallFailed as error:
            raise CallError(f"failed to call webhook: {error}") from None
        except admission_review.Unusable as error:
            raise CallError(f"received invalid webhook response: {error}") from None
        except admission_review.Undecodable as error:
            raise CallError(f"received undecodable patch in webhook response: {error}") from None
        for key, text in answer.annotations.items():
            attributes.annotations[f"{hook.name}/{key}"] = text
        for text in answer.warnings:
            attributes.warn(text)
        return answer


def failed(hook: Webhook, error: CallError) -> errors.StatusError:
    """Return the refusal of a write because a webhook could not be asked."""
    return errors.internal(f"failed calling webhook {go_format.quote(hook.name)}: {error}")
