"""Which kernel settings pods may have."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.node.kubelet.pod_admission.sysctl_allowlist import sysctl_problem, validate_pattern


@pytest.mark.parametrize(
    ("name", "spec", "problem"),
    [
        ("net.ipv4.tcp_fin_timeout", {}, None),
        ("net/ipv4/tcp_fin_timeout", {}, None),
        ("net.ipv4.tcp_notsent_lowat", {}, None),
        ("kernel.msgmax", {}, None),  # allowed by the pattern below
        ("kernel.panic", {}, '"kernel.panic" not allowlisted'),
        ("kernel/panic", {}, '"kernel.panic" not allowlisted'),
        ("net.core.somaxconn", {}, None),
        ("net.core_pattern", {}, '"net.core_pattern" not allowlisted'),
        ("net.ipv4.tcp_fin_timeout", {"hostNetwork": True},
         '"net.ipv4.tcp_fin_timeout" not allowed with host Net enabled'),
        ("kernel.shm_rmid_forced", {"hostNetwork": True}, None),
        ("kernel.shm_rmid_forced", {"hostIPC": True}, '"kernel.shm_rmid_forced" not allowed with host IPC enabled'),
        ("user.max_user_namespaces", {}, '"user.max_user_namespaces" not allowed with host User enabled'),
        ("user.max_user_namespaces", {"hostUsers": False}, None),
    ],
)  # fmt: skip
def test_settings_of_pods(name: str, spec: dict[str, Any], problem: str | None) -> None:
    allowed = ["kernel.msg*", "net.core.*", "user.max_user_namespaces"]
    wanted = {**spec, "securityContext": {"sysctls": [{"name": name, "value": "1"}]}}
    assert sysctl_problem(wanted, allowed) == problem


@pytest.mark.parametrize("pattern", ["net.*", "kernel.msg*", "net/ipv4/conf/*", "user.max_user_namespaces"])
def test_what_an_administrator_may_allow(pattern: str) -> None:
    validate_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("kernel.panic", 'the sysctls "kernel.panic" are not known to be namespaced'),
        ("vm.*", 'the sysctls "vm." are not known to be namespaced'),
        ("*", 'the sysctls "" are not known to be namespaced'),
        ("net.*.x", "must have at most 253 characters and match regex"),
        ("Net.a", "must have at most 253 characters and match regex"),
    ],
)
def test_what_an_administrator_may_not_allow(pattern: str, problem: str) -> None:
    with pytest.raises(ValueError) as raised:
        validate_pattern(pattern)
    assert problem in str(raised.value)
