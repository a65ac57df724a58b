"""CertificateSigningRequest: someone asks a signer for a certificate."""

from __future__ import annotations

from pybernetes.api.certificates import GROUP, _pem
from pybernetes.api.certificates.certificatesigningrequest import request_conditions
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource, Rules
from pybernetes.api.table import AGE, NAME, get
from pybernetes.api.text.durations import human_duration
from pybernetes.api.validation import checks

_SPEC = Path("spec")
_CERTIFICATE = Path("status") / "certificate"
_LEGACY = "kubernetes.io/legacy-unknown"
_SHORTEST = 600
_USAGES = (
    "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment",
    "decipher only", "digital signature", "email protection", "encipher only", "ipsec end system",
    "ipsec tunnel", "ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc",
    "ocsp signing", "s/mime", "server auth", "signing", "timestamping",
)  # fmt: skip


def default(obj: Object) -> None:
    """Complete an absent spec, which is always shown."""
    obj.setdefault("spec", {})


def prepare_create(obj: Object) -> None:
    """Drop who the client says it is: the API server writes down who it is."""
    for key in ("username", "uid", "groups", "extra"):
        obj.get("spec", {}).pop(key, None)
    obj["status"] = {}


def note_user(obj: Object, user: Object) -> None:
    """Write down who asks."""
    obj["spec"].update(user)


def prepare_update(new: Object, old: Object) -> None:
    """Keep the spec: only metadata can be changed here."""
    new["spec"] = old.get("spec", {})


def prepare_status_update(new: Object, old: Object) -> None:
    """Keep the decision, and complete the times of the other conditions."""
    request_conditions.keep_decision(new, old)
    request_conditions.stamp(new, old)


def prepare_approval(new: Object, old: Object) -> None:
    """Take the conditions, and keep everything else (approval subresource)."""
    request_conditions.stamp(new, old)
    conditions = request_conditions.conditions(new)
    new["spec"] = old.get("spec", {})
    new["status"] = {key: value for key, value in old.get("status", {}).items() if key != "conditions"}
    if conditions:
        new["status"]["conditions"] = conditions


def validate(obj: Object, errors: Errors) -> None:
    """Check the request, what the certificate is for, and the signer."""
    spec = obj.get("spec", {})
    request = spec.get("request", "")
    problem = _request_problem(request)
    if problem:
        errors.invalid(_SPEC / "request", request or None, problem)
    usages = spec.get("usages", [])
    path = _SPEC / "usages"
    if not usages:
        errors.required(path)
    for index, usage in enumerate(usages):
        if usage not in _USAGES:
            errors.unsupported(path[index], usage, _USAGES)
    for index in checks.repetitions(usages):
        errors.duplicate(path[index], usages[index])
    signer = spec.get("signerName", "")
    if signer == _LEGACY:
        text = "the legacy signerName is not allowed via this API version"
        errors.invalid(_SPEC / "signerName", signer, text)
    else:
        checks.signer_name(signer, _SPEC / "signerName", errors)
    seconds = spec.get("expirationSeconds", _SHORTEST)
    if seconds < _SHORTEST:
        text = "may not specify a duration less than 600 seconds (10 minutes)"
        errors.invalid(_SPEC / "expirationSeconds", seconds, text)
    request_conditions.validate(obj, errors)


def _request_problem(request: str) -> str:
    block = next(_pem.blocks(_pem.from_base64(request)), None)
    if block is None or block.type != "CERTIFICATE REQUEST":
        return "PEM block type must be CERTIFICATE REQUEST"
    csr = _pem.request(block.content)
    if csr is None:
        return "asn1: structure error: malformed certificate request"
    return "" if _pem.signed(csr) else _pem.signature_problem(csr)


def _validate_certificate(status: Object, errors: Errors) -> None:
    text = _pem.from_base64(status.get("certificate", ""))
    problem = _certificate_problem(text) if text else ""
    if problem:
        errors.invalid(_CERTIFICATE, "<certificate data>", problem)


def _certificate_problem(text: bytes) -> str:
    has_certificate = False
    for block in _pem.blocks(text):
        if block.type != "CERTIFICATE":
            return f'only CERTIFICATE PEM blocks are allowed, found "{block.type}"'
        if block.headers:
            return "no PEM block headers are permitted"
        if _pem.certificate(block.content) is None:
            return "x509: malformed certificate"
        has_certificate = True
    return "" if has_certificate else "must contain at least one CERTIFICATE PEM block"


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check the conditions and the certificate, which can be set once."""
    status, before = new.get("status", {}), old.get("status", {})
    request_conditions.validate(new, errors)
    changed = status.get("certificate", "") != before.get("certificate", "")
    if changed:
        _validate_certificate(status, errors)
    request_conditions.validate_update(new, old, errors, deciding=False)
    if changed and before.get("certificate"):
        errors.forbidden(_CERTIFICATE, "updates may not modify existing certificate content")
    request_conditions.validate_one_decision(new, errors)


def validate_approval(new: Object, old: Object, errors: Errors) -> None:
    """Check the conditions (approval subresource)."""
    request_conditions.validate(new, errors)
    request_conditions.validate_update(new, old, errors, deciding=True)
    request_conditions.validate_one_decision(new, errors)


def _state(obj: Object, now: float) -> str:
    types = {item.get("type") for item in request_conditions.conditions(obj)}
    state = "Denied" if "Denied" in types else "Approved" if "Approved" in types else "Pending"
    if "Failed" in types:
        state += ",Failed"
    return state + (",Issued" if get(obj, ".status.certificate") else "")


def _duration(obj: Object, now: float) -> str:
    seconds = get(obj, ".spec.expirationSeconds")
    return "<none>" if seconds is None else human_duration(seconds)


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="CertificateSigningRequest",
    plural="certificatesigningrequests",
    short_names=("csr",),
    namespaced=False,
    subresources=("approval", "status"),
    rules={"approval": Rules(prepare_approval, validate_approval)},
    reset={
        "": {"f:spec": {}, "f:status": {}},
        "status": {"f:spec": {}, "f:status": {"f:conditions": {}}},
        "approval": {"f:spec": {}, "f:status": {"f:certificate": {}}},
    },
    selectable={"spec.signerName": lambda obj: get(obj, ".spec.signerName", "")},
    name_errors=lambda name: [],
    columns=(
        NAME,
        AGE,
        Column("SignerName", lambda obj, now: get(obj, ".spec.signerName", "") or "<none>"),
        Column("Requestor", lambda obj, now: get(obj, ".spec.username", "")),
        Column("RequestedDuration", _duration),
        Column("Condition", _state),
    ),
    default=default,
    prepare_create=prepare_create,
    note_user=note_user,
    prepare_update=prepare_update,
    prepare_status_update=prepare_status_update,
    validate=validate,
    validate_status_update=validate_status_update,
)
