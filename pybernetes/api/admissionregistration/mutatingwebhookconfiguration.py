"""MutatingWebhookConfiguration: programs outside of the API server that may change what is written."""

from __future__ import annotations

from pybernetes.api.admissionregistration import GROUP, _webhooks
from pybernetes.api.admissionregistration._names import validate_name
from pybernetes.api.resource import Object, Resource


def default(obj: Object) -> None:
    """Complete every webhook."""
    _webhooks.default(obj)
    for hook in obj.get("webhooks", ()):
        hook.setdefault("reinvocationPolicy", "Never")


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="MutatingWebhookConfiguration",
    plural="mutatingwebhookconfigurations",
    categories=("api-extensions",),
    namespaced=False,
    generation=True,
    unconditional_update=False,
    compiles=True,
    columns=_webhooks.COLUMNS,
    default=default,
    validate=_webhooks.validate,
    validate_create=validate_name,
    warnings=_webhooks.warnings,
)
