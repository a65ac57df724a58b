"""The files that tell the kubelet of a machine what to do."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.api.text import yaml_reader
from pybernetes.lib.tls.tls import write_atomically
from pybernetes.tools.kubeadm import arguments
from pybernetes.tools.kubeadm.configuration.printing import to_yaml


def flags(registration: Object, *, register_taints: bool) -> list[str]:
    """Return the kubelet's own flags on this machine."""
    defaults: dict[str, str] = {}
    if register_taints and registration.get("taints"):
        defaults["register-with-taints"] = ",".join(taint_text(taint) for taint in registration["taints"])
    extra = registration.get("kubeletExtraArgs")
    name = arguments.value(extra, "hostname-override") or registration["name"]
    if name != socket.gethostname():
        defaults["hostname-override"] = name
    return arguments.command(defaults, arguments.given(extra))


def taint_text(taint: Object) -> str:
    """Return a taint as command lines have it."""
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint.get('effect', '')}"


def environment(words: list[str]) -> str:
    """Return the text of the file of flags."""
    text = " ".join(words).replace("\\", "\\\\").replace('"', '\\"')
    return f'KUBELET_KUBEADM_ARGS="{text}"\n'


def instance_config(registration: Object) -> Object:
    """Return what is this machine's own in the kubelet's configuration."""
    return {"containerRuntimeEndpoint": registration["criSocket"]}


def own_socket(folder: Path) -> str:
    """Return the container runtime of the kubelet that is set up on this machine; empty if nothing tells."""
    try:
        value, _ = yaml_reader.loads((folder / "instance-config.yaml").read_bytes())
    except (OSError, yaml_reader.YamlError):
        return ""
    known = value.get("containerRuntimeEndpoint") if isinstance(value, dict) else ""
    return known if isinstance(known, str) else ""


def write_config(folder: Path, config: Object, registration: Object, say: Any) -> None:
    """Write the kubelet's configuration, with what is this machine's own over it."""
    own = instance_config(registration)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    say(f'[kubelet-start] Writing kubelet configuration to file "{folder / "instance-config.yaml"}"')
    write_atomically(folder / "instance-config.yaml", to_yaml(own).encode())
    say(
        '[patches] Applied patch of type "application/strategic-merge-patch+json" to target "kubeletconfiguration"'
    )
    say(f'[kubelet-start] Writing kubelet configuration to file "{folder / "config.yaml"}"')
    write_atomically(folder / "config.yaml", to_yaml({**config, **own}).encode())


def write_flags(folder: Path, registration: Object, *, register_taints: bool, say: Any) -> None:
    """Write the file of the kubelet's flags."""
    path = folder / "kubeadm-flags.env"
    say(f'[kubelet-start] Writing kubelet environment file with flags to file "{path}"')
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_atomically(path, environment(flags(registration, register_taints=register_taints)).encode())
