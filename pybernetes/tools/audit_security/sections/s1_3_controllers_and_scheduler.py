"""1.3 and 1.4: how the controller manager and the scheduler are started."""

from __future__ import annotations

from pybernetes.tools.audit_security.check import Check, Finding, State, passed
from pybernetes.tools.audit_security.sections._flags import equals, given, of_component

_MANAGER, _SCHEDULER = "kube-controller-manager", "kube-scheduler"


_LOOPBACK = equals("127.0.0.1", otherwise="health and metrics are served to the network", state=State.WARN)
_PROFILING = equals("false", otherwise="--profiling is on", state=State.WARN)

CHECKS = (
    Check("1.3.1", "ended pods are collected", of_component(
        _MANAGER, "terminated-pod-gc-threshold", lambda value: passed(f"beyond {value or 12500}"))),
    Check("1.3.2", "controller manager: profiling is off", of_component(_MANAGER, "profiling", _PROFILING)),
    Check("1.3.3", "controllers have service accounts of their own", of_component(
        _MANAGER, "use-service-account-credentials", equals("true", otherwise="they share one identity"))),
    Check("1.3.4", "service account tokens are signed with a key of their own", of_component(
        _MANAGER, "service-account-private-key-file", given("not set"))),
    Check("1.3.5", "pods learn the API server's authority", of_component(_MANAGER, "root-ca-file", given("not set"))),
    Check("1.3.6", "kubelets' serving certificates may be rotated", of_component(
        _MANAGER, "feature-gates", lambda value: Finding(State.FAIL, "switched off")
        if "RotateKubeletServerCertificate=false" in value else passed())),
    Check("1.3.7", "controller manager: serves loopback only", of_component(_MANAGER, "bind-address", _LOOPBACK)),
    Check("1.4.1", "scheduler: profiling is off", of_component(_SCHEDULER, "profiling", _PROFILING)),
    Check("1.4.2", "scheduler: serves loopback only", of_component(_SCHEDULER, "bind-address", _LOOPBACK)),
)  # fmt: skip
