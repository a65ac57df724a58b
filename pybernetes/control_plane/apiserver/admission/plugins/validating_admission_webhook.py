"""ValidatingAdmissionWebhook: programs outside of the server may refuse a write. They are all asked at once."""

from __future__ import annotations

import asyncio
import logging

from pybernetes.api.errors import StatusError
from pybernetes.control_plane.apiserver.admission.attributes import Attributes
from pybernetes.control_plane.apiserver.admission.dynamic import admission_review
from pybernetes.control_plane.apiserver.admission.dynamic.registered import Registered
from pybernetes.control_plane.apiserver.admission.dynamic.webhooks import (
    CallError,
    Invocation,
    Webhook,
    Webhooks,
    failed,
)
from pybernetes.control_plane.apiserver.admission.plugin import PluginInputs

log = logging.getLogger(__name__)
_FAILED_OPEN = "failed-open.validating.webhook.admission.k8s.io/round_0_index_"


class ValidatingAdmissionWebhook(Registered[Webhook]):
    """Asks every webhook that a write concerns."""

    name = "ValidatingAdmissionWebhook"
    order = 370
    on_by_default = True

    def __init__(self, inputs: PluginInputs) -> None:
        self._webhooks = Webhooks(inputs.context, "validatingwebhookconfigurations", mutating=False)
        super().__init__(self._webhooks.current, self._webhooks.places)

    validate = Registered.consult

    async def ask(self, attributes: Attributes, registered: list[Webhook]) -> None:
        concerned = [
            invocation
            for index, hook in enumerate(registered)
            if (invocation := await self._webhooks.invocation(hook, index, attributes)) is not None
        ]
        if len(concerned) == 1:
            error = await self._judge(concerned[0], attributes)
            if error is not None:
                raise error
        elif concerned:
            results = await asyncio.gather(*(self._judge(invocation, attributes) for invocation in concerned))
            for error in results:
                if error is not None:
                    raise error

    async def _judge(self, invocation: Invocation, attributes: Attributes) -> StatusError | None:
        hook = invocation.hook
        try:
            answer = await self._webhooks.call(invocation, attributes)
        except StatusError as error:
            return error
        except CallError as error:
            if hook.ignores_failure:
                log.warning("failed calling webhook %s, going on: %s", hook.name, error)
                attributes.annotations[f"{_FAILED_OPEN}{invocation.index}"] = hook.name
                return None
            return failed(hook, error)
        return None if answer.allowed else admission_review.denial(hook.name, answer.status)


PLUGIN = ValidatingAdmissionWebhook
