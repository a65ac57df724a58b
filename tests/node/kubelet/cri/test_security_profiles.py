"""Seccomp and AppArmor profiles, as the runtime is told of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cri_api.v1 import api_pb2 as messages

from pybernetes.node.kubelet.containers.errors import ConfigError
from pybernetes.node.kubelet.cri.security_profiles import seccomp, set_app_armor

ROOT = Path("/var/lib/kubelet/seccomp")


@pytest.mark.parametrize(
    ("profile", "by_default", "expected"),
    [
        (None, False, ("Unconfined", "")),
        (None, True, ("RuntimeDefault", "")),
        ({"type": "Unconfined"}, True, ("Unconfined", "")),
        ({"type": "RuntimeDefault"}, False, ("RuntimeDefault", "")),
        ({"type": "Localhost", "localhostProfile": "a/b.json"}, False, ("Localhost", f"{ROOT}/a/b.json")),
        ({"type": "Localhost", "localhostProfile": "/etc/x"}, False, ("Localhost", f"{ROOT}//etc/x")),
    ],
)
def test_seccomp(profile: Any, by_default: bool, expected: tuple[str, str]) -> None:
    made = seccomp(profile, ROOT, by_default)
    assert (messages.SecurityProfile.ProfileType.Name(made.profile_type), made.localhost_ref) == expected


@pytest.mark.parametrize("empty", [{}, {"localhostProfile": ""}, {"localhostProfile": None}])
def test_a_seccomp_profile_without_a_file_is_no_way_around_it(empty: dict[str, Any]) -> None:
    """CVE-2023-2431: a profile of the host without its name ran a container unconfined."""
    with pytest.raises(
        ConfigError, match=r"^localhostProfile must be set if seccompProfile type is Localhost.$"
    ):
        seccomp({"type": "Localhost", **empty}, ROOT, False)


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        (None, ("RuntimeDefault", "", "")),  # of the message; the field is not set
        ({"type": "RuntimeDefault"}, ("RuntimeDefault", "", "runtime/default")),
        ({"type": "Unconfined"}, ("Unconfined", "", "unconfined")),
        ({"type": "Localhost", "localhostProfile": "mine"}, ("Localhost", "mine", "localhost/mine")),
    ],
)
def test_app_armor(profile: Any, expected: tuple[str, str, str]) -> None:
    made = messages.LinuxContainerSecurityContext()
    set_app_armor(made, profile)
    kind = messages.SecurityProfile.ProfileType.Name(made.apparmor.profile_type)
    assert (kind, made.apparmor.localhost_ref, made.apparmor_profile) == expected
    assert made.HasField("apparmor") is (profile is not None)


def test_an_app_armor_profile_without_a_name() -> None:
    with pytest.raises(ConfigError, match=r"^missing localhost apparmor profile name$"):
        set_app_armor(messages.LinuxContainerSecurityContext(), {"type": "Localhost"})
