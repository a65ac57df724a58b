"""Patches of the user's for what kubeadm writes: a folder of files ``target[suffix][+patchtype].extension``."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from pybernetes.api.errors import StatusError
from pybernetes.api.patch import json_patch, merge_patch, strategic
from pybernetes.api.resource import Object
from pybernetes.api.schema import load as schema
from pybernetes.api.text import yaml_reader
from pybernetes.tools.kubeadm.errors import KubeadmError

# With the kinds whose lists a strategic patch merges by key; the kubelet's configuration has none of those.
TARGETS = {
    "kube-apiserver": ("", "v1", "Pod"),
    "kube-controller-manager": ("", "v1", "Pod"),
    "kube-scheduler": ("", "v1", "Pod"),
    "etcd": ("", "v1", "Pod"),
    "kubeletconfiguration": None,
    "corednsdeployment": ("apps", "v1", "Deployment"),
    "kubeproxydaemonset": ("apps", "v1", "DaemonSet"),
    "metricsserverdeployment": ("apps", "v1", "Deployment"),
}
TYPES = {
    "strategic": "application/strategic-merge-patch+json",
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
}
_NAME = re.compile(r"(?P<rest>[^+]+)(\+(?P<type>[^.]+))?\.(?P<extension>json|yaml)\Z")


def parse(name: str) -> tuple[str, str] | None:
    """Return target and type of a patch by the name of its file; None if it is no patch, KubeadmError if it is wrong."""
    match = _NAME.match(name)
    target = next((target for target in TARGETS if name.startswith(target)), None)
    if match is None or target is None:
        return None
    sort = match["type"] or "strategic"
    if sort not in TYPES:
        raise KubeadmError(f'unknown patch type "{sort}" from filename "{name}"')
    return target, sort


def patched(target: str, value: Object, folder: Path | None, say: Callable[[str], None]) -> Object:
    """Return a value with the user's patches for it, in the order of their names."""
    if folder is None:
        return value
    if not folder.is_dir():
        raise KubeadmError(f"stat {folder}: no such file or directory")
    for path in sorted(folder.iterdir()):
        parsed = parse(path.name)
        if parsed is None or parsed[0] != target:
            continue
        value = _apply(target, parsed[1], value, path)
        say(f'[patches] Applied patch of type "{TYPES[parsed[1]]}" to target "{target}"')
    return value


def _apply(target: str, sort: str, value: Object, path: Path) -> Object:
    try:
        patch, _ = yaml_reader.loads(path.read_bytes())
        if sort == "json":
            return json_patch.apply(value, patch)
        kind = TARGETS[target]
        if sort == "merge" or kind is None:
            return merge_patch.apply(value, patch)
        return strategic.apply(value, patch, schema.kind_type(*kind))
    except (StatusError, yaml_reader.YamlError, OSError) as error:
        raise KubeadmError(f"could not apply the patch {path}: {error}") from None
