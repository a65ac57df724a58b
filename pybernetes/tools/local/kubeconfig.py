"""What kubectl has to know: entries in a kubeconfig, merged in and taken out again."""

from __future__ import annotations

import base64
import os
import tempfile
from pathlib import Path
from typing import Any

import yaml

_LISTS = ("clusters", "users", "contexts")


def users_file() -> Path:
    """Return the kubeconfig that kubectl reads: the first of KUBECONFIG, or the usual place."""
    path = os.environ.get("KUBECONFIG", "").split(os.pathsep)[0]
    return Path(path) if path else Path.home() / ".kube" / "config"


def entries(name: str, server: str, authority: bytes, certificate: bytes, key: bytes) -> dict[str, Any]:
    """Return a whole kubeconfig for the administrator of one cluster."""

    def text(data: bytes) -> str:
        return base64.b64encode(data).decode()

    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": name, "cluster": {"server": server, "certificate-authority-data": text(authority)}}
        ],
        "users": [
            {
                "name": name,
                "user": {"client-certificate-data": text(certificate), "client-key-data": text(key)},
            }
        ],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }


def merged(existing: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return a kubeconfig with the entries of another in it, which replace those of the same name."""
    result = {"apiVersion": "v1", "kind": "Config", **existing}
    for key in _LISTS:
        names = {entry["name"] for entry in new[key]}
        kept = [entry for entry in result.get(key) or [] if entry.get("name") not in names]
        result[key] = [*kept, *new[key]]
    result["current-context"] = new["current-context"]
    return result


def without(existing: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a kubeconfig without the entries of one cluster."""
    result = dict(existing)
    for key in _LISTS:
        result[key] = [entry for entry in result.get(key) or [] if entry.get("name") != name]
    if result.get("current-context") == name:
        contexts = result["contexts"]
        result["current-context"] = contexts[0]["name"] if contexts else ""
    return result


def read(path: Path) -> dict[str, Any]:
    """Return the kubeconfig of a file, empty if there is none."""
    try:
        return yaml.safe_load(path.read_text()) or {}
    except FileNotFoundError:
        return {}


def write(path: Path, config: dict[str, Any]) -> None:
    """Replace the file at once, readable by its owner alone."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".kubeconfig-")
    with os.fdopen(handle, "w") as file:
        yaml.safe_dump(config, file, sort_keys=False)
    os.replace(temporary, path)
