"""Every check of the pod security standards, with the words in which it tells what is wrong."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api.core.pod.security_standards.evaluate import CHECKS, NEWEST, details, evaluate, reasons
from pybernetes.api.core.pod.security_standards.policy import (
    BASELINE,
    LEVELS,
    PRIVILEGED,
    RESTRICTED,
    Standard,
)
from pybernetes.api.resource import Object

# What lets a pod through the restricted level.
SAFE = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
POD_SAFE = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}


def spec(
    container: Object | None = None, *, name: str = "a", more: list[Object] | None = None, **fields: Any
) -> Object:
    """Return a specification that is fine at every level but for what is given."""
    first = {"name": name, "securityContext": SAFE, **(container or {})}
    return {"securityContext": POD_SAFE, "containers": [first, *(more or [])], **fields}


def secured(**context: Any) -> Object:
    return {"securityContext": {**SAFE, **context}}


def test_what_is_fine_everywhere() -> None:
    for level in LEVELS:
        for version in (*range(NEWEST + 1), None, 99):
            assert evaluate(Standard(level, version), {}, spec()) == [], (level, version)


@pytest.mark.parametrize(
    ("given", "version", "expected"),
    [
        (spec(hostNetwork=True, hostPID=True, hostIPC=True), None,
         "host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)"),
        (spec(volumes=[{"name": "v", "hostPath": {"path": "/"}}]), None, 'hostPath volumes (volume "v")'),
        (spec(volumes=[{"name": name, "hostPath": {"path": "/"}} for name in "vw"]), None,
         'hostPath volumes (volumes "v", "w")'),
        (spec({"ports": [{"hostPort": 80}]}), None, 'hostPort (container "a" uses hostPort 80)'),
        (spec({"ports": [{"hostPort": 80}, {"hostPort": 443}, {"containerPort": 1}]},
              more=[{"name": "b", "ports": [{"hostPort": 9}]}]), None,
         'hostPort (containers "a", "b" use hostPorts 443, 80, 9)'),
        (spec({"livenessProbe": {"httpGet": {"host": "h"}}, "lifecycle": {"preStop": {"tcpSocket": {"host": "g"}}}}),
         None, 'probe or lifecycle host (container "a" uses probe or lifecycle hosts "g", "h")'),
        (spec({"livenessProbe": {"httpGet": {"host": "h"}}}), 33, ""),
        (spec(secured(privileged=True)), None, 'privileged (container "a" must not set securityContext.privileged=true)'),
        (spec(secured(procMount="Unmasked")), None,
         'procMount (container "a" must not set securityContext.procMount to "Unmasked")'),
        (spec(secured(procMount="Unmasked"), hostUsers=False), None, ""),
        (spec(secured(procMount="Unmasked"), hostUsers=False), 34,
         'procMount (container "a" must not set securityContext.procMount to "Unmasked")'),
        (spec(secured(procMount="Default")), None, ""),
        (spec(secured(capabilities={"drop": ["ALL"], "add": ["NET_RAW", "CHOWN", "BPF"]})), None,
         'non-default capabilities (container "a" must not include "BPF", "NET_RAW" in securityContext.capabilities.add)'),
        (spec(securityContext={**POD_SAFE, "seccompProfile": {"type": "Unconfined"}}), None,
         'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")'),
        (spec(secured(seccompProfile={"type": "Unconfined"}), securityContext={"seccompProfile": {"type": "X"}}), None,
         'seccompProfile (pod and container "a" must not set securityContext.seccompProfile.type to "Unconfined", "X")'),
        (spec(secured(seLinuxOptions={"type": "t", "user": "u", "role": "r"})), None,
         'seLinuxOptions (container "a" set forbidden securityContext.seLinuxOptions: type "t"; user may not be set; '
         'role may not be set)'),
        (spec(secured(seLinuxOptions={"type": "container_engine_t"})), None, ""),
        (spec(secured(seLinuxOptions={"type": "container_engine_t"})), 30,
         'seLinuxOptions (container "a" set forbidden securityContext.seLinuxOptions: type "container_engine_t")'),
        (spec(securityContext={"sysctls": [{"name": "a.b"}, {"name": "net.ipv4.tcp_rmem"}]}), None,
         "forbidden sysctls (a.b)"),
        (spec(securityContext={"sysctls": [{"name": "net.ipv4.tcp_rmem"}, {"name": "net.ipv4.tcp_notsent_lowat"}]}), 31,
         "forbidden sysctls (net.ipv4.tcp_rmem, net.ipv4.tcp_notsent_lowat)"),
        (spec(secured(windowsOptions={"hostProcess": True}), securityContext={"windowsOptions": {"hostProcess": True}}),
         None, 'hostProcess (pod and container "a" must not set securityContext.windowsOptions.hostProcess=true)'),
        (spec(secured(appArmorProfile={"type": "Unconfined"})), None,
         'forbidden AppArmor profile (container "a" must not set AppArmor profile type to "Unconfined")'),
    ],
)  # fmt: skip
def test_the_baseline(given: Object, version: int | None, expected: str) -> None:
    violations = evaluate(Standard(BASELINE, version), {}, given)
    if expected:
        assert expected in details(violations)
    else:
        assert violations == []


@pytest.mark.parametrize(
    ("annotations", "version", "expected"),
    [
        ({"container.apparmor.security.beta.kubernetes.io/a": "unconfined"}, None,
         'forbidden AppArmor profile (annotation must not set AppArmor profile type to '
         '"container.apparmor.security.beta.kubernetes.io/a="unconfined"")'),
        ({"container.apparmor.security.beta.kubernetes.io/a": "runtime/default"}, None, ""),
        ({"container.apparmor.security.beta.kubernetes.io/a": "localhost/x"}, None, ""),
        ({"seccomp.security.alpha.kubernetes.io/pod": "unconfined"}, 18,
         'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")'),
        ({"seccomp.security.alpha.kubernetes.io/pod": "x", "container.seccomp.security.alpha.kubernetes.io/a": "y"}, 18,
         'seccompProfile (forbidden annotations container.seccomp.security.alpha.kubernetes.io/a="y", '
         'seccomp.security.alpha.kubernetes.io/pod="x")'),
        ({"seccomp.security.alpha.kubernetes.io/pod": "docker/default"}, 18, ""),
        ({"seccomp.security.alpha.kubernetes.io/pod": "unconfined"}, 19, ""),
    ],
)  # fmt: skip
def test_annotations(annotations: dict[str, str], version: int | None, expected: str) -> None:
    assert details(evaluate(Standard(BASELINE, version), {"annotations": annotations}, spec())) == expected


BARE = {"name": "b"}


@pytest.mark.parametrize(
    ("given", "version", "expected"),
    [
        (spec(more=[BARE]), None,
         'allowPrivilegeEscalation != false (container "b" must set securityContext.allowPrivilegeEscalation=false), '
         'unrestricted capabilities (container "b" must set securityContext.capabilities.drop=["ALL"])'),
        (spec(more=[BARE]), 7, ""),
        (spec(more=[BARE], os={"name": "windows"}), None, ""),
        (spec(more=[BARE], os={"name": "windows"}), 24, "allowPrivilegeEscalation != false"),
        (spec(secured(capabilities={"add": ["CHOWN", "NET_BIND_SERVICE"]})), None,
         'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]; container "a" '
         'must not include "CHOWN" in securityContext.capabilities.add)'),
        (spec(secured(capabilities={"add": ["CHOWN"]})), 21, ""),
        (spec(secured(procMount="Unmasked"), hostUsers=False), None, 'procMount (container "a" must not set'),
        (spec(volumes=[{"name": "v", "hostPath": {}}, {"name": "w", "nfs": {}}, {"name": "x", "odd": {}}]), None,
         'restricted volume types (volumes "v", "w", "x" use restricted volume types "hostPath", "nfs", "unknown")'),
        (spec(volumes=[{"name": "v", "emptyDir": {}}, {"name": "w", "image": {}}]), None, ""),
        (spec(securityContext={"seccompProfile": {"type": "Localhost"}}), None,
         'runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true)'),
        (spec(secured(runAsNonRoot=False)), None,
         'runAsNonRoot != true (container "a" must not set securityContext.runAsNonRoot=false)'),
        (spec(secured(runAsNonRoot=True), securityContext={**POD_SAFE, "runAsNonRoot": False}), None,
         'runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false)'),
        (spec(securityContext={"seccompProfile": {"type": "Localhost"}}, hostUsers=False), None, ""),
        (spec(securityContext={"seccompProfile": {"type": "Localhost"}}, hostUsers=False), 34, "runAsNonRoot != true"),
        (spec(secured(runAsUser=0), securityContext={**POD_SAFE, "runAsUser": 0}), None,
         'runAsUser=0 (pod and container "a" must not set runAsUser=0)'),
        (spec(secured(runAsUser=0)), 22, ""),
        (spec(secured(runAsUser=0), hostUsers=False), None, ""),
        (spec(secured(runAsUser=1)), None, ""),
        (spec(securityContext={"runAsNonRoot": True}), None,
         'seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or '
         '"Localhost")'),
        (spec(securityContext={"runAsNonRoot": True}), 18, ""),
        (spec(secured(seccompProfile={"type": "Localhost"}), securityContext={"runAsNonRoot": True}), None, ""),
    ],
)  # fmt: skip
def test_the_restricted_level(given: Object, version: int | None, expected: str) -> None:
    violations = evaluate(Standard(RESTRICTED, version), {}, given)
    if expected:
        assert expected in details(violations)
    else:
        assert violations == []


def test_all_kinds_of_containers_count() -> None:
    bad = {"name": "x", "securityContext": {"privileged": True}}
    for key in ("initContainers", "ephemeralContainers"):
        assert reasons(evaluate(Standard(BASELINE), {}, {**spec(), key: [bad]})) == "privileged"


def test_the_order_and_what_replaces_what() -> None:
    names = [check.name for check in CHECKS]
    baseline = [check.name for check in CHECKS if check.level == BASELINE]
    assert baseline == sorted(baseline) and names[len(baseline) :] == sorted(names[len(baseline) :])
    assert NEWEST == 37
    host = spec(volumes=[{"name": "v", "hostPath": {}}])
    assert reasons(evaluate(Standard(RESTRICTED), {}, host)) == "restricted volume types"
    everything = spec({"securityContext": {"privileged": True}}, hostNetwork=True, securityContext={})
    assert reasons(evaluate(Standard(RESTRICTED), {}, everything)) == (
        "host namespaces, privileged, allowPrivilegeEscalation != false, unrestricted capabilities, "
        "runAsNonRoot != true, seccompProfile"
    )


CONTEXTS = st.fixed_dictionaries(
    {},
    optional={
        "privileged": st.booleans(),
        "allowPrivilegeEscalation": st.booleans(),
        "capabilities": st.fixed_dictionaries(
            {},
            optional={"add": st.lists(st.sampled_from(["CHOWN", "BPF"])), "drop": st.lists(st.just("ALL"))},
        ),
        "procMount": st.sampled_from(["Default", "Unmasked"]),
        "runAsUser": st.integers(0, 2),
        "runAsNonRoot": st.booleans(),
        "seccompProfile": st.fixed_dictionaries({"type": st.sampled_from(["Unconfined", "Localhost"])}),
        "seLinuxOptions": st.fixed_dictionaries({}, optional={"type": st.just("x"), "user": st.just("u")}),
    },
)
SPECS = st.fixed_dictionaries(
    {
        "containers": st.lists(
            st.fixed_dictionaries({"name": st.just("c"), "securityContext": CONTEXTS}), max_size=2
        )
    },
    optional={"securityContext": CONTEXTS, "hostNetwork": st.booleans(), "hostUsers": st.booleans()},
)


@given(given=SPECS, version=st.integers(0, NEWEST + 2))
def test_a_stricter_level_lets_in_no_more(given: Object, version: int) -> None:
    assert evaluate(Standard(PRIVILEGED, version), {}, given) == []
    if not evaluate(Standard(RESTRICTED, version), {}, given):
        assert not evaluate(Standard(BASELINE, version), {}, given)
    if evaluate(Standard(BASELINE, version), {}, given):
        assert evaluate(Standard(RESTRICTED, version), {}, given)
