"""MutatingAdmissionWebhook: programs outside of the server may change a write, one after the other."""

from __future__ import annotations

import logging
from typing import Any

import orjson

from pybernetes.api import errors
from pybernetes.api.patch import json_patch
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.admission.attributes import Attributes
from pybernetes.control_plane.apiserver.admission.dynamic import admission_review, mutation
from pybernetes.control_plane.apiserver.admission.dynamic.registered import Registered
from pybernetes.control_plane.apiserver.admission.dynamic.reinvocation import Reinvocation, reinvocation_of
from pybernetes.control_plane.apiserver.admission.dynamic.webhooks import (
    CallError,
    Invocation,
    Webhook,
    Webhooks,
    failed,
)
from pybernetes.control_plane.apiserver.admission.plugin import PluginInputs
from pybernetes.control_plane.apiserver.codec.body_weight import object_weight, weight
from pybernetes.lib.event_loop import json_pieces, off_loop

log = logging.getLogger(__name__)
_MUTATION = "mutation.webhook.admission.k8s.io/"
_PATCH = "patch.webhook.admission.k8s.io/"


class MutatingAdmissionWebhook(Registered[Webhook]):
    """Asks every webhook that a write concerns, and applies its patch."""

    name = "MutatingAdmissionWebhook"
    order = 350
    on_by_default = True

    def __init__(self, inputs: PluginInputs) -> None:
        self._context = inputs.context
        self._webhooks = Webhooks(inputs.context, "mutatingwebhookconfigurations", mutating=True)
        super().__init__(self._webhooks.current, self._webhooks.places)

    mutate = Registered.consult

    async def ask(self, attributes: Attributes, registered: list[Webhook]) -> None:
        reinvocation = reinvocation_of(attributes, self.name)
        try:
            for index, hook in enumerate(registered):
                invocation = await self._webhooks.invocation(hook, index, attributes)
                if invocation is None or (attributes.again and hook.uid not in reinvocation.again):
                    continue
                await self._one(invocation, attributes, reinvocation)
        finally:
            reinvocation.note(attributes)

    async def _one(self, invocation: Invocation, attributes: Attributes, reinvocation: Reinvocation) -> None:
        hook = invocation.hook
        place = f"round_{int(attributes.again)}_index_{invocation.index}"
        changed = False
        try:
            answer = await self._webhooks.call(invocation, attributes)
            if not answer.allowed:
                raise admission_review.denial(hook.name, answer.status)
            if answer.patch:
                changed = await self._patch(invocation, attributes, answer)
                noted = {"configuration": hook.configuration, "webhook": hook.name, "patch": answer.patch}
                noted["patchType"] = "JSONPatch"
                text = await off_loop.run(answer.patch_size, orjson.dumps, noted)
                attributes.annotations[_PATCH + place] = text.decode()
        except CallError as error:
            if not hook.ignores_failure:
                raise failed(hook, error) from None
            log.warning("failed calling webhook %s, going on: %s", hook.name, error)
            attributes.annotations[f"failed-open.{_MUTATION}{place}"] = hook.name
        finally:
            value = {"configuration": hook.configuration, "webhook": hook.name, "mutated": changed}
            attributes.annotations[_MUTATION + place] = orjson.dumps(value).decode()
        if changed:
            reinvocation.changed()
            attributes.wants_again = True
        if hook.reinvoked:
            reinvocation.asked.add(hook.uid)

    async def _patch(
        self, invocation: Invocation, attributes: Attributes, answer: admission_review.Answer
    ) -> bool:
        """Apply a patch as a whole or not at all, and return whether it changed anything."""
        shown = invocation.shown
        if attributes.obj is None or shown.obj is None:
            name = go_format.quote(invocation.hook.name)
            raise errors.internal(
                f"admission webhook {name} attempted to modify the object, which is not supported for this operation"
            )
        try:
            before = orjson.dumps(shown.obj)
            value, size = await off_loop.run(
                weight(before) + answer.patch_size, _patched, before, answer.patch
            )
        except json_patch.DoesNotApply as error:
            raise errors.internal(str(error)) from None
        return await mutation.take(self._context, attributes, shown, value, size)


def _patched(before: bytes, patch: Any) -> tuple[Any, int]:
    """Return an object with a patch applied, and how much work it is."""
    value = json_patch.run(json_pieces.value(before), patch)
    return value, object_weight(value)


PLUGIN = MutatingAdmissionWebhook
