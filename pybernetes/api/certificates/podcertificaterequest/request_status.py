"""How the status of a pod's certificate request may change: once, to issued, denied or failed."""

from __future__ import annotations

from typing import Any

from pybernetes.api import current_time
from pybernetes.api.certificates import _pem
from pybernetes.api.field import OMIT, Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.table import epoch, get
from pybernetes.api.validation.conditions import validate_conditions

FINAL = ("Issued", "Denied", "Failed")
_STATUS = Path("status")
_CHAIN = _STATUS / "certificateChain"
_LARGEST = 100 * 1024
_MINUTE = 60


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check the step from the old status to the new one."""
    status, before = new.get("status", {}), old.get("status", {})
    count = len(errors)
    _validate_types(status.get("conditions", []), errors)
    validate_conditions(status.get("conditions", []), _STATUS / "conditions", errors)
    if len(errors) > count:
        return
    if _final(before):
        text = "immutable after PodCertificateRequest is issued, denied, or failed"
        if status != before:
            errors.invalid(_STATUS, OMIT, text)
        return
    state = _final(status)
    if state in ("Denied", "Failed"):
        if any(key != "conditions" for key in status):
            text = (
                "non-condition status fields must be empty when denying or failing the PodCertificateRequest"
            )
            errors.invalid(_STATUS, OMIT, text)
    elif state == "Issued":
        _validate_issued(status, old.get("spec", {}), errors)
    elif status != before:
        text = 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"'
        errors.invalid(_STATUS, OMIT, text)


def _final(status: Object) -> str:
    for condition in status.get("conditions", ()):
        if condition.get("type") in FINAL and condition.get("status") == "True":
            return condition["type"]
    return ""


def _validate_types(conditions: list[Object], errors: Errors) -> None:
    known = 0
    for index, condition in enumerate(conditions):
        path = _STATUS / "conditions" / f"[{index}]"
        kind = condition.get("type", "")
        if kind not in FINAL:
            errors.unsupported(path / "type", kind, FINAL)
            continue
        known += 1
        if known > 1:
            text = 'There may be at most one condition with type "Issued", "Denied", or "Failed"'
            errors.invalid(path / "type", kind, text)
        if condition.get("status", "") != "True":
            errors.unsupported(path / "status", condition.get("status", ""), ("True",))


def _validate_issued(status: Object, spec: Object, errors: Errors) -> None:
    chain = status.get("certificateChain", "")
    if len(chain.encode()) > _LARGEST:
        errors.too_long(_CHAIN, _LARGEST)
        return
    blocks = list(_pem.blocks(chain.encode()))
    problem = _chain_problem(blocks[:1], "leaf", "CERTIFICATE")
    if not blocks:
        problem = "issued certificate chain must contain at least one certificate"
    leaf = None if problem else _pem.certificate(blocks[0].content)
    if leaf is not None and _key_bytes(leaf.public_key()) != _wanted_key(spec):
        problem = "leaf certificate was not issued to the requested public key"
    if problem or leaf is None:
        errors.invalid(_CHAIN, chain, problem)
        return
    count = len(errors)
    _validate_times(status, leaf, spec.get("maxExpirationSeconds", 0), errors)
    problem = _chain_problem(blocks[1:], "intermediate", "CERTFICATE")
    if problem and len(errors) == count:
        errors.invalid(_CHAIN, chain, problem)


def _chain_problem(blocks: list[_pem.Block], which: str, word: str) -> str:
    for block in blocks:
        if block.type != "CERTIFICATE":
            return f"issued certificate chain must consist entirely of {word} PEM blocks"
        if _pem.certificate(block.content) is None:
            return f"{which} certificate does not parse as valid X.509"
    return ""


def _wanted_key(spec: Object) -> bytes:
    csr = _pem.request(_pem.from_base64(spec.get("stubPKCS10Request", "")))
    return _key_bytes(csr.public_key()) if csr is not None else b""


def _key_bytes(key: Any) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _validate_times(status: Object, leaf: Any, longest: int, errors: Errors) -> None:
    consistent = "must be present and consistent with the issued certificate"
    refresh = "must be present and in the range [notbefore+10min, notafter-10min]"
    missing = False
    for key, text in (("notBefore", consistent), ("notAfter", consistent), ("beginRefreshAt", refresh)):
        if not get(status, key):
            errors.required(_STATUS / key, text)
            missing = True
    if missing:
        return
    start, end, again = (epoch(status[key]) for key in ("notBefore", "notAfter", "beginRefreshAt"))
    first, last = (
        int(moment.timestamp()) for moment in (leaf.not_valid_before_utc, leaf.not_valid_after_utc)
    )
    checks = (
        (start != first, "notBefore", "must be set to the NotBefore time encoded in the leaf certificate"),
        (
            abs(start - current_time.clock()) >= 5 * _MINUTE,
            "notBefore",
            "must be set to within 5 minutes of kube-apiserver's current time",
        ),
        (end != last, "notAfter", "must be set to the NotAfter time encoded in the leaf certificate"),
        (last - first < 60 * _MINUTE, "", "leaf certificate lifetime must be >= 1 hour"),
        (
            last - first > longest,
            "",
            f"leaf certificate lifetime must be <= spec.maxExpirationSeconds ({longest})",
        ),
        (
            again < start + 10 * _MINUTE,
            "beginRefreshAt",
            "must be at least 10 minutes after status.notBefore",
        ),
        (again > end - 10 * _MINUTE, "beginRefreshAt", "must be at least 10 minutes before status.notAfter"),
    )
    for wrong, key, text in checks:
        if wrong:
            value = status[key] if key else (last - first) * 10**9
            errors.invalid(_STATUS / key if key else _CHAIN, value, text)
            return
