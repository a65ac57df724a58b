"""The file that says where an external provider is and how it is known: ``--cloud-config``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from pybernetes.lib.flags import duration

DEFAULT_SECONDS = 5.0
_FIELDS = ("address", "key", "cert", "cacert", "grpc_timeout")


class CloudConfig(NamedTuple):
    """Where the provider is; without certificates the connection is not encrypted."""

    address: str
    key: bytes = b""
    certificate: bytes = b""
    authority: bytes = b""
    seconds: float = DEFAULT_SECONDS


def read(path: Path) -> CloudConfig:
    """Return what a file says; ValueError if it cannot be."""
    import yaml

    try:
        fields: Any = yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        raise ValueError(f"{path}: can't parse YAML: {error}") from None
    if not isinstance(fields, dict) or not all(isinstance(value, str) for value in fields.values()):
        raise ValueError(f"{path}: can't parse YAML: texts by name are needed")
    unknown = sorted(set(fields) - set(_FIELDS))
    if unknown:
        raise ValueError(f"{path}: unknown field {unknown[0]!r}; the fields are {', '.join(_FIELDS)}")
    address = fields.get("address", "")
    if not address.startswith("unix:") and not address.rpartition(":")[2].isdecimal():
        raise ValueError(f"{path}: failed to parse address: {address!r} has no port")
    seconds = float(duration(fields["grpc_timeout"])) if "grpc_timeout" in fields else DEFAULT_SECONDS
    if not fields.get("cert"):
        return CloudConfig(address, seconds=seconds)
    key, certificate, authority = (
        Path(fields.get(name, "")).read_bytes() for name in ("key", "cert", "cacert")
    )
    return CloudConfig(address, key, certificate, authority, seconds)
