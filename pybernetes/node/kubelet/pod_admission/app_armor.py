"""Whether the node can enforce the AppArmor profiles of a pod."""

from __future__ import annotations

from pathlib import Path

from pybernetes.api.resource import Object

_GROUPS = ("initContainers", "containers", "ephemeralContainers")
_SECURITY = Path("/sys/kernel/security/apparmor")
_ENABLED = Path("/sys/module/apparmor/parameters/enabled")


def host_has_app_armor() -> bool:
    """Return whether the kernel of this machine enforces AppArmor profiles."""
    try:
        return _SECURITY.exists() and _ENABLED.read_bytes().startswith(b"Y")
    except OSError:
        return False


def app_armor_problem(spec: Object, enabled: bool) -> str | None:
    """Return why the profiles of a pod cannot be enforced; a pod that asks for none needs nothing."""
    contexts = [spec, *(container for group in _GROUPS for container in spec.get(group, ()))]
    profiles = [(holder.get("securityContext") or {}).get("appArmorProfile") for holder in contexts]
    for profile in profiles:
        if profile is not None and profile.get("type") != "Unconfined":
            if not enabled:
                return "AppArmor is not enabled on the host"
            if profile.get("type") == "Localhost" and not (profile.get("localhostProfile") or "").strip():
                return 'invalid empty AppArmor profile name: ""'
    return None
