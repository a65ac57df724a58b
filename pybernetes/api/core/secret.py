"""Secret: confidential data, checked for what its type promises."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable

import orjson

from pybernetes.api.core._key_pair import key_pair_problem
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import AGE, NAME
from pybernetes.api.validation import checks, meta, names

_DATA = Path("data")
_SIZE_LIMIT = 1024 * 1024
_ACCOUNT = "kubernetes.io/service-account.name"
_FIXED = "field is immutable when `immutable` is set"


def default(obj: Object) -> None:
    """Turn plain texts into data; the type is Opaque unless it is given."""
    texts = obj.pop("stringData", None)
    if texts:
        data = obj.setdefault("data", {})
        for key, text in texts.items():
            data[key] = base64.b64encode(text.encode()).decode()
    if not obj.get("type"):
        obj["type"] = "Opaque"


def prepare_update(new: Object, old: Object) -> None:
    """Keep a type that is not given."""
    if not new.get("type"):
        new["type"] = old.get("type", "")


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except (ValueError, binascii.Error):
        return b""


def _size(text: str) -> int:
    return len(text) * 3 // 4 - text[-2:].count("=")


def _json_problem(content: bytes) -> str:
    """Return what Go says about bytes that are not a JSON object, or nothing."""
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError:
        stripped = content.strip()
        if not stripped:
            return "unexpected end of JSON input"
        if stripped[:1] not in b'{["-0123456789tfn':
            return f"invalid character '{chr(stripped[0])}' looking for beginning of value"
        return "unexpected end of JSON input"
    if value is None or isinstance(value, dict):
        return ""
    kinds = {bool: "bool", str: "string", list: "array"}
    return f"json: cannot unmarshal {kinds.get(type(value), 'number')} into Go value of type map[string]interface {{}}"


def _docker(key: str) -> Callable[[dict[str, str], Errors], None]:
    def check(data: dict[str, str], errors: Errors) -> None:
        if key not in data:
            errors.required(_DATA[key])
        elif problem := _json_problem(_bytes(data[key])):
            errors.invalid(_DATA[key], "<secret contents redacted>", problem)

    return check


def _basic_auth(data: dict[str, str], errors: Errors) -> None:
    if "username" not in data and "password" not in data:
        errors.required(_DATA["username"])
        errors.required(_DATA["password"])


def _ssh_auth(data: dict[str, str], errors: Errors) -> None:
    if not data.get("ssh-privatekey"):
        errors.required(_DATA["ssh-privatekey"])


def _tls(data: dict[str, str], errors: Errors) -> None:
    for key in ("tls.crt", "tls.key"):
        if key not in data:
            errors.required(_DATA[key])


_TYPES = {
    "kubernetes.io/dockercfg": _docker(".dockercfg"),
    "kubernetes.io/dockerconfigjson": _docker(".dockerconfigjson"),
    "kubernetes.io/basic-auth": _basic_auth,
    "kubernetes.io/ssh-auth": _ssh_auth,
    "kubernetes.io/tls": _tls,
}


def validate(obj: Object, errors: Errors) -> None:
    """Check keys, size and what the type asks for."""
    data = obj.get("data", {})
    size = 0
    for key, value in data.items():
        checks.name(names.config_map_key, key, _DATA[key], errors)
        size += _size(value)
    if size > _SIZE_LIMIT:
        errors.too_long(_DATA, _SIZE_LIMIT)
    type_ = obj.get("type", "")
    if type_ == "kubernetes.io/service-account-token":
        if not (obj["metadata"].get("annotations") or {}).get(_ACCOUNT):
            errors.required((Path("metadata") / "annotations")[_ACCOUNT])
    elif type_ in _TYPES:
        _TYPES[type_](data, errors)


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the type, and what is immutable, stays."""
    meta.immutable(new.get("type", ""), old.get("type", ""), Path("type"), errors)
    if old.get("immutable"):
        if not new.get("immutable"):
            errors.forbidden(Path("immutable"), _FIXED)
        if new.get("data", {}) != old.get("data", {}):
            errors.forbidden(_DATA, _FIXED)


def warnings(obj: Object, old: Object | None) -> list[str]:
    """Warn about a certificate that does not go with its key."""
    if obj.get("type") != "kubernetes.io/tls":
        return []
    data = obj.get("data", {})
    problem = key_pair_problem(_bytes(data.get("tls.crt", "")), _bytes(data.get("tls.key", "")))
    return [problem] if problem else []


RESOURCE = Resource(
    group="",
    version="v1",
    kind="Secret",
    plural="secrets",
    columns=(
        NAME,
        Column("Type", lambda obj, now: obj.get("type", "")),
        Column("Data", lambda obj, now: len(obj.get("data", {}))),
        AGE,
    ),
    selectable={"type": lambda obj: obj.get("type", "")},
    default=default,
    prepare_update=prepare_update,
    validate=validate,
    validate_update=validate_update,
    warnings=warnings,
)
