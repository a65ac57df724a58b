"""ValidatingWebhookConfiguration: programs outside of the API server that may refuse what is written."""

from __future__ import annotations

from pybernetes.api.admissionregistration import GROUP, _webhooks
from pybernetes.api.admissionregistration._names import validate_name
from pybernetes.api.resource import Resource

RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="ValidatingWebhookConfiguration",
    plural="validatingwebhookconfigurations",
    categories=("api-extensions",),
    namespaced=False,
    generation=True,
    unconditional_update=False,
    compiles=True,
    columns=_webhooks.COLUMNS,
    default=_webhooks.default,
    validate=_webhooks.validate,
    validate_create=validate_name,
    warnings=_webhooks.warnings,
)
