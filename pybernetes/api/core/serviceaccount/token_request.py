"""TokenRequest: a request for a token of a service account, through its token subresource."""

from __future__ import annotations

from pybernetes.api.authentication import GROUP
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object, Resource
from pybernetes.api.validation.names import dns_subdomain

_SPEC = Path("spec")
_SECONDS = _SPEC / "expirationSeconds"
_ATTESTATIONS = _SPEC / "attestations"
_GROUPS = "admissionReviewAPIGroups"
WEBHOOKS = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")


def default(obj: Object) -> None:
    """Let a token last for an hour unless it says otherwise."""
    obj.setdefault("spec", {}).setdefault("expirationSeconds", 3600)


def is_for_webhook(reference: Object | None) -> bool:
    """Return whether the token is to be bound to the configuration of a webhook."""
    return (
        reference is not None
        and reference.get("kind") in WEBHOOKS
        and reference.get("apiVersion") == "admissionregistration.k8s.io/v1"
    )


def validate(obj: Object, errors: Errors) -> None:
    """Check how long the token is to last, and what it is to attest."""
    spec = obj["spec"]
    seconds, attestations = spec["expirationSeconds"], spec.get("attestations")
    if not is_for_webhook(spec.get("boundObjectRef")) and attestations:
        text = "attestations may only be specified with a webhook bound object reference"
        errors.invalid(_ATTESTATIONS, attestations, text)
        return
    if seconds < 600:
        errors.invalid(_SECONDS, seconds, "may not specify a duration less than 10 minutes")
    if seconds > 1 << 32:
        errors.invalid(_SECONDS, seconds, "may not specify a duration larger than 2^32 seconds")
    if is_for_webhook(spec.get("boundObjectRef")):
        audiences = spec.get("audiences") or []
        if len(audiences) != 1:
            errors.invalid(_SPEC / "audiences", audiences, "must be length 1 when bound to a webhook config")
        _validate_attestations(attestations, errors)


def _validate_attestations(attestations: dict[str, list[str]] | None, errors: Errors) -> None:
    if attestations is None or len(attestations) != 1:
        text = "webhook bound requests require exactly one admissionReviewAPIGroups attestation"
        errors.invalid(_ATTESTATIONS, attestations, text)
        return
    ((key, values),) = attestations.items()
    path = _ATTESTATIONS[key]
    if key != _GROUPS:
        errors.unsupported(path, key, (_GROUPS,))
    elif len(values) != 1:
        errors.invalid(path, values, "must specify a single value")
    elif not values[0]:
        errors.invalid(path[0], "", "may not be an empty string")
    elif values[0] != "*":
        for problem in dns_subdomain(values[0]):
            errors.invalid(path[0], values[0], f"must specify a valid API Group: {problem}")


# Not a kind of its own, so not RESOURCE: it exists only below service accounts.
TOKEN_REQUEST = Resource(
    group=GROUP,
    version="v1",
    kind="TokenRequest",
    plural="tokenrequests",
    verbs=("create",),
    default=default,
    validate=validate,
)
