"""Security contexts of pods and containers, as the runtime is told of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cri_api.v1 import api_pb2 as messages

from pybernetes.node.kubelet.containers.errors import ConfigError
from pybernetes.node.kubelet.cri import security_context
from tests.node.kubelet.pods import pod

PLAIN = messages.Image()


def _image(user: str) -> Any:
    """Return an image as a runtime tells of its user: a number apart from a name."""
    if user.isdigit():
        return messages.Image(uid=messages.Int64Value(value=int(user)))
    return messages.Image(username=user)


def _container(
    context: dict[str, Any] | None = None, image: Any = PLAIN, default: bool = False, **spec: Any
) -> Any:
    made = pod({"securityContext": context or {}}, **spec)
    return security_context.container_security_context(
        made, made["spec"]["containers"][0], image, seccomp_root=Path("/seccomp"), seccomp_default=default
    )


_WHERE = ' (pod: "p_n(u)", container: c)'


@pytest.mark.parametrize(
    ("user", "context", "whole", "problem"),
    [
        ("", {"runAsNonRoot": True}, {}, "container has runAsNonRoot and image will run as root"),
        ("0", {"runAsNonRoot": True}, {}, "container has runAsNonRoot and image will run as root"),
        ("", {}, {"runAsNonRoot": True}, "container has runAsNonRoot and image will run as root"),
        ("root", {"runAsNonRoot": True}, {}, "container has runAsNonRoot and image has non-numeric user (root),"
         " cannot verify user is non-root"),
        ("web", {}, {"runAsNonRoot": True}, "container has runAsNonRoot and image has non-numeric user (web),"
         " cannot verify user is non-root"),
        (str(2**31), {"runAsNonRoot": True}, {}, "container has runAsNonRoot and image has an invalid user id"
         " (2147483648). (Must be 1-(2147483647)): must be between 0 and 2147483647, inclusive"),
        (str(2**32), {"runAsNonRoot": True}, {}, "container has runAsNonRoot and image has an invalid user id"
         " (4294967296). (Must be 1-(2147483647)): must be between 0 and 2147483647, inclusive"),
        ("1000", {"runAsNonRoot": True, "runAsUser": 0}, {}, "container's runAsUser breaks non-root policy"),
        ("1000", {"runAsNonRoot": True}, {"runAsUser": 0}, "container's runAsUser breaks non-root policy"),
        ("1000", {"runAsNonRoot": True}, {}, None),
        ("", {"runAsNonRoot": True, "runAsUser": 7}, {}, None),
        ("root", {"runAsNonRoot": True}, {"runAsUser": 7}, None),
        ("", {"runAsNonRoot": False}, {"runAsNonRoot": True}, None),
        ("", {}, {}, None),
    ],
)  # fmt: skip
def test_who_must_not_be_root_is_not(
    user: str, context: dict[str, Any], whole: dict[str, Any], problem: str | None
) -> None:
    """CVE-2019-11245, CVE-2024-40635, CVE-2026-46680: each run asks the image anew, whose user counts even where it names none."""
    if problem is None:
        _container(context, _image(user), securityContext=whole)
        return
    with pytest.raises(ConfigError) as raised:
        _container(context, _image(user), securityContext=whole)
    assert str(raised.value) == problem + _WHERE


@pytest.mark.parametrize(
    ("user", "whole", "expected"),
    [
        ("", {}, (0, "")),
        ("12", {}, (12, "")),
        ("web", {}, (None, "web")),
        ("web", {"runAsUser": 5}, (5, "")),
    ],
)
def test_the_user_of_an_image(user: str, whole: dict[str, Any], expected: tuple[int | None, str]) -> None:
    made = _container({}, _image(user), securityContext=whole)
    uid = made.run_as_user.value if made.HasField("run_as_user") else None
    assert (uid, made.run_as_username) == expected


def test_the_fields_of_a_container_win_over_those_of_its_pod() -> None:
    whole = {
        "runAsUser": 1, "runAsGroup": 2, "fsGroup": 3, "supplementalGroups": [4], "supplementalGroupsPolicy": "Strict",
        "seLinuxOptions": {"level": "s0"}, "seccompProfile": {"type": "RuntimeDefault"},
        "appArmorProfile": {"type": "RuntimeDefault"},
    }  # fmt: skip
    plain = _container(securityContext=whole)
    assert (plain.run_as_user.value, plain.run_as_group.value) == (1, 2)
    assert (list(plain.supplemental_groups), plain.supplemental_groups_policy) == ([3, 4], 1)
    assert plain.selinux_options.level == "s0"
    assert (
        plain.seccomp.profile_type == plain.apparmor.profile_type == messages.SecurityProfile.RuntimeDefault
    )
    assert plain.apparmor_profile == "runtime/default"
    own = {
        "runAsUser": 5, "runAsGroup": 6, "seLinuxOptions": {"type": "t"}, "privileged": True,
        "readOnlyRootFilesystem": True, "seccompProfile": {"type": "Unconfined"},
        "appArmorProfile": {"type": "Localhost", "localhostProfile": "mine"},
        "capabilities": {"add": ["NET_ADMIN", "CAP_SYS_TIME"], "drop": ["ALL"]},
    }  # fmt: skip
    made = _container(own, securityContext=whole)
    assert (made.run_as_user.value, made.run_as_group.value, made.privileged) == (5, 6, True)
    assert made.readonly_rootfs and not made.no_new_privs
    assert (made.selinux_options.type, made.selinux_options.level) == ("t", "")
    assert made.seccomp.profile_type == messages.SecurityProfile.Unconfined
    assert (made.apparmor.localhost_ref, made.apparmor_profile) == ("mine", "localhost/mine")
    assert list(made.capabilities.add_capabilities) == ["NET_ADMIN", "SYS_TIME"]
    assert list(made.capabilities.drop_capabilities) == ["ALL"]
    assert _container({"allowPrivilegeEscalation": False}).no_new_privs


def test_proc_is_masked_unless_that_is_asked_for() -> None:
    """CVE-2018-10892: what tells of the machine or changes it (/proc/acpi too) is hidden or read-only."""
    made = _container()
    assert {"/proc/acpi", "/proc/kcore", "/proc/keys", "/sys/firmware"} <= set(made.masked_paths)
    assert {"/proc/sys", "/proc/sysrq-trigger"} <= set(made.readonly_paths)
    bare = _container({"procMount": "Unmasked"}, hostUsers=False)
    assert not bare.masked_paths and not bare.readonly_paths


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, ("POD", "POD", "CONTAINER")),
        ({"hostNetwork": True}, ("NODE", "POD", "CONTAINER")),
        ({"hostIPC": True}, ("POD", "NODE", "CONTAINER")),
        ({"hostPID": True}, ("POD", "POD", "NODE")),
        ({"shareProcessNamespace": True}, ("POD", "POD", "POD")),
    ],
)
def test_namespaces(spec: dict[str, Any], expected: tuple[str, str, str]) -> None:
    names = messages.NamespaceMode.Name
    for made in (_container(**spec), security_context.sandbox_security_context(spec)):
        options = made.namespace_options
        assert (names(options.network), names(options.ipc), names(options.pid)) == expected
        assert names(options.userns_options.mode) == "NODE"


def test_a_debugger_joins_the_processes_of_one_container_unless_it_sees_all() -> None:
    users = security_context.NODE_USERS
    joined = security_context.namespaces({}, users, "abc")
    assert (joined.pid, joined.target_id) == (messages.TARGET, "abc")
    for spec, pid in (({"hostPID": True}, messages.NODE), ({"shareProcessNamespace": True}, messages.POD)):
        made = security_context.namespaces(spec, users, "abc")
        assert (made.pid, made.target_id) == (pid, "")


def test_a_sandbox_gets_the_pods_context_and_is_confined() -> None:
    whole = {"runAsUser": 1, "runAsGroup": 2, "fsGroup": 3, "supplementalGroupsPolicy": "Strict"}
    spec = pod(securityContext={**whole, "seccompProfile": {"type": "Unconfined"}})["spec"]
    made = security_context.sandbox_security_context(spec)
    assert (made.run_as_user.value, made.run_as_group.value, list(made.supplemental_groups)) == (1, 2, [3])
    assert made.seccomp.profile_type == messages.SecurityProfile.RuntimeDefault
    assert made.supplemental_groups_policy == messages.Strict
    assert not made.privileged
    for group in ("initContainers", "containers", "ephemeralContainers"):
        holder = {group: [{"name": "x", "securityContext": {"privileged": True}}]}
        assert security_context.sandbox_security_context(holder).privileged
