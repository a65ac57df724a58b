"""PodCertificateRequest: a node asks a signer for a certificate of one of its pods."""

from __future__ import annotations

from pybernetes.api.certificates import GROUP, _pem
from pybernetes.api.certificates.podcertificaterequest import public_key, request_status
from pybernetes.api.field import OMIT, Errors, Path
from pybernetes.api.resource import KEEPS_METADATA, Column, Object, Resource
from pybernetes.api.status import start_empty
from pybernetes.api.table import NAME, get
from pybernetes.api.validation import checks, meta, names
from pybernetes.api.validation.signers import is_kubernetes_signer

_SPEC = Path("spec")
_HOUR = 3600
_ONE_OF = "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set"


def default(obj: Object) -> None:
    """Complete the longest lifetime: a day."""
    obj.setdefault("spec", {}).setdefault("maxExpirationSeconds", 86400)


def validate(obj: Object, errors: Errors) -> None:
    """Check whom the certificate is for, its lifetime and its key."""
    spec = obj.get("spec", {})
    signer = spec.get("signerName", "")
    checks.signer_name(signer, _SPEC / "signerName", errors)
    annotations = spec.get("unverifiedUserAnnotations", {})
    checks.user_annotations(annotations, _SPEC / "unverifiedUserAnnotations", errors)
    for name, uid in (
        ("podName", "podUID"),
        ("serviceAccountName", "serviceAccountUID"),
        ("nodeName", "nodeUID"),
    ):
        checks.name(names.dns_subdomain, spec.get(name, ""), _SPEC / name, errors)
        if not spec.get(uid):
            errors.invalid(_SPEC / uid, "", "must not be empty")
        if len(spec.get(uid, "").encode()) > 128:
            errors.too_long(_SPEC / uid, 128)
    longest = 24 * _HOUR if is_kubernetes_signer(signer) else 91 * 24 * _HOUR
    seconds = spec.get("maxExpirationSeconds", 0)
    if not _HOUR <= seconds <= longest:
        text = f"must be in the range [{_HOUR}, {longest}]"
        errors.invalid(_SPEC / "maxExpirationSeconds", seconds, text)
    request = _pem.from_base64(spec.get("stubPKCS10Request", ""))
    if request:
        public_key.validate_request(request, errors)
    else:
        errors.invalid(_SPEC, OMIT, _ONE_OF)


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the spec stays."""
    meta.immutable(new.get("spec"), old.get("spec"), _SPEC, errors)


def _state(obj: Object, now: float) -> str:
    state = "Pending"
    for condition in obj.get("status", {}).get("conditions", ()):
        if condition.get("type") in request_status.FINAL:
            state = condition["type"]
    return state


def _annotations(obj: Object, now: float) -> str:
    annotations = get(obj, ".spec.unverifiedUserAnnotations", {})
    return ",".join(f"{key}={value}" for key, value in sorted(annotations.items())) or "<none>"


def _text(path: str) -> Column:
    name = path.rpartition(".")[2]
    return Column(name[0].upper() + name[1:], lambda obj, now: get(obj, path, ""))


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="PodCertificateRequest",
    plural="podcertificaterequests",
    subresources=("status",),
    reset=KEEPS_METADATA,
    selectable={
        "spec.signerName": lambda obj: get(obj, ".spec.signerName", ""),
        "spec.podName": lambda obj: get(obj, ".spec.podName", ""),
        "spec.nodeName": lambda obj: get(obj, ".spec.nodeName", ""),
    },
    unconditional_update=False,
    columns=(
        NAME,
        _text(".spec.podName"),
        _text(".spec.serviceAccountName"),
        _text(".spec.nodeName"),
        _text(".spec.signerName"),
        Column("State", _state),
        Column("UnverifiedUserAnnotations", _annotations),
    ),
    default=default,
    prepare_create=start_empty,
    validate=validate,
    validate_update=validate_update,
    validate_status_update=request_status.validate_status_update,
)
