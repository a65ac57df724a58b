"""The entries of local clusters in kubeconfigs: merged in and removed again."""

from __future__ import annotations

import base64
import fcntl
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import yaml

from pybernetes.api.resource import Object
from pybernetes.client import kubeconfig_files


def users_file() -> Path:
    """Return the kubeconfig that kubectl reads: the first of KUBECONFIG, or the usual place."""
    return Path(kubeconfig_files.paths(os.environ)[0])


def entries(name: str, server: str, authority: bytes, certificate: bytes, key: bytes) -> Object:
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


def merged(existing: Object, new: Object) -> Object:
    """Return a kubeconfig with the entries of another in it, which replace those of the same name."""
    result = {"apiVersion": "v1", "kind": "Config", **existing}
    for key in kubeconfig_files.PLURALS:
        names = {entry["name"] for entry in new[key]}
        kept = [entry for entry in result.get(key) or [] if entry.get("name") not in names]
        result[key] = [*kept, *new[key]]
    result["current-context"] = new["current-context"]
    return result


def without(existing: Object, name: str) -> Object:
    """Return a kubeconfig without the entries of one cluster."""
    result = dict(existing)
    for key in kubeconfig_files.PLURALS:
        result[key] = [entry for entry in result.get(key) or [] if entry.get("name") != name]
    if result.get("current-context") == name:
        contexts = result["contexts"]
        result["current-context"] = contexts[0]["name"] if contexts else ""
    return result


def read(path: Path) -> Object:
    """Return the kubeconfig of a file, empty if there is none."""
    try:
        return kubeconfig_files.read_as_is(path)
    except FileNotFoundError:
        return {}


def change(path: Path, changed: Callable[[Object], Object]) -> None:
    """Change a file, one process or thread after the other: clusters may come up at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        write(path, changed(read(path)))
    finally:
        os.close(folder)


def write(path: Path, config: Object) -> None:
    """Replace a file atomically, readable by its owner alone."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".kubeconfig-")
    with os.fdopen(handle, "w") as file:
        yaml.safe_dump(config, file, sort_keys=False)
    os.replace(temporary, path)
