"""MutatingAdmissionWebhook: programs outside of the server may change a write, one after the other."""

from __future__ import annotations

import copy
import logging
from collections.abc import Awaitable
from typing import Any

import orjson

from pybernetes.api import errors, go
from pybernetes.api.errors import StatusError
from pybernetes.api.patch import json_patch
from pybernetes.control_plane.apiserver.admission import mutation, review
from pybernetes.control_plane.apiserver.admission.chain import (
    CONNECT,
    CREATE,
    DELETE,
    UPDATE,
    Attributes,
    Scope,
)
from pybernetes.control_plane.apiserver.admission.hooks import CallError, Hook, Hooks, Invocation, failed
from pybernetes.control_plane.apiserver.admission.matching import is_exempt
from pybernetes.control_plane.apiserver.api import Api

log = logging.getLogger(__name__)
_MUTATION = "mutation.webhook.admission.k8s.io/"
_PATCH = "patch.webhook.admission.k8s.io/"


class MutatingAdmissionWebhook:
    """Asks every webhook that a write concerns, and applies its patch."""

    name = "MutatingAdmissionWebhook"
    scope = Scope((CREATE, UPDATE, DELETE, CONNECT), subresources=None)

    def __init__(self, api: Api, configuration: Any = None) -> None:
        if configuration is not None:
            raise ValueError(f"{self.name}: a configuration is not supported by this server")
        self._api = api
        self._hooks = Hooks(api, "mutatingwebhookconfigurations", mutating=True)

    def mutate(self, attributes: Attributes) -> Awaitable[None] | None:
        """Changes what webhooks change, and refuses what they refuse."""
        hooks = self._hooks.current()
        if not hooks or is_exempt(attributes):
            return None
        return self._ask(attributes, hooks)

    async def _ask(self, attributes: Attributes, hooks: list[Hook]) -> None:
        if attributes.memory is None:
            attributes.memory = {}
        memory: mutation.Memory = attributes.memory.setdefault(self.name, mutation.Memory())
        if attributes.again and memory.last != attributes.obj:
            memory.changed()
        try:
            for index, hook in enumerate(hooks):
                invocation = await self._hooks.invocation(hook, index, attributes)
                if invocation is None or (attributes.again and hook.uid not in memory.again):
                    continue
                await self._one(invocation, attributes, memory)
        finally:
            memory.last = copy.deepcopy(attributes.obj)

    async def _one(self, invocation: Invocation, attributes: Attributes, memory: mutation.Memory) -> None:
        hook = invocation.hook
        place = f"round_{int(attributes.again)}_index_{invocation.index}"
        changed = False
        try:
            answer = await self._hooks.call(invocation, attributes)
            if not answer.allowed:
                raise review.denial(hook.name, answer.status)
            if answer.patch:
                changed = await self._patch(invocation, attributes, answer.patch)
                noted = {"configuration": hook.configuration, "webhook": hook.name, "patch": answer.patch}
                noted["patchType"] = "JSONPatch"
                attributes.annotations[_PATCH + place] = orjson.dumps(noted).decode()
        except CallError as error:
            if not hook.ignores_failure:
                raise failed(hook, error) from None
            log.warning("failed calling webhook %s, going on: %s", hook.name, error)
            attributes.annotations[f"failed-open.{_MUTATION}{place}"] = hook.name
        finally:
            value = {"configuration": hook.configuration, "webhook": hook.name, "mutated": changed}
            attributes.annotations[_MUTATION + place] = orjson.dumps(value).decode()
        if changed:
            memory.changed()
            attributes.wants_again = True
        if hook.reinvoked:
            memory.asked.add(hook.uid)

    async def _patch(self, invocation: Invocation, attributes: Attributes, patch: Any) -> bool:
        """Applies a patch as a whole or not at all; says whether it changed anything."""
        shown = invocation.shown
        if attributes.obj is None or shown.obj is None:
            name = go.quote(invocation.hook.name)
            raise errors.internal(
                f"admission webhook {name} attempted to modify the object, which is not supported for this operation"
            )
        try:
            value = json_patch.apply(copy.deepcopy(shown.obj), patch)
        except StatusError as error:
            raise errors.internal(error.message) from None
        return await mutation.take(self._api, attributes, shown, value)


PLUGIN = MutatingAdmissionWebhook
