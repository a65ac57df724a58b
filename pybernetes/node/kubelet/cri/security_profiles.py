"""Seccomp and AppArmor profiles in terms of CRI."""

from __future__ import annotations

from pathlib import Path

from cri_api.v1 import api_pb2 as messages

from pybernetes.api.resource import Object
from pybernetes.node.kubelet.containers.errors import ConfigError
from pybernetes.node.kubelet.cri.messages import Message

_KINDS = messages.SecurityProfile.ProfileType
# How runtimes older than the field of profiles are told of one.
_OLD_NAMES = {"RuntimeDefault": "runtime/default", "Unconfined": "unconfined", "Localhost": "localhost/"}


def seccomp(profile: Object | None, root: Path, by_default: bool) -> Message:
    """Return a seccomp profile: the runtime's, one in a file below the kubelet's folder, or none."""
    kind = (profile or {}).get("type") or ("RuntimeDefault" if by_default else "Unconfined")
    if kind != "Localhost":
        return messages.SecurityProfile(profile_type=_KINDS.Value(kind))
    path = (profile or {}).get("localhostProfile")
    if not path:  # a runtime takes an empty path for no profile at all
        raise ConfigError("localhostProfile must be set if seccompProfile type is Localhost.")
    return messages.SecurityProfile(profile_type=_KINDS.Value(kind), localhost_ref=f"{root}/{path}")


def set_app_armor(result: Message, profile: Object | None) -> None:
    """Give a container its AppArmor profile, if one is asked for."""
    if not profile:
        return
    kind, name = profile["type"], profile.get("localhostProfile") or ""
    if kind == "Localhost" and not name:
        raise ConfigError("missing localhost apparmor profile name")
    local = name if kind == "Localhost" else ""
    result.apparmor.CopyFrom(messages.SecurityProfile(profile_type=_KINDS.Value(kind), localhost_ref=local))
    result.apparmor_profile = _OLD_NAMES[kind] + local
