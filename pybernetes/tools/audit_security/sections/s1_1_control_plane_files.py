"""1.1: who may read and write the files of the control plane."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.tools.audit_security.check import Check, Finding, State, nobody
from pybernetes.tools.audit_security.cluster_inputs import ClusterInputs, File

_ELSEWHERE = "the files are on another machine: look there"
_NO_FILE = "there is no such file here"


def _files(
    what: str, bad: Callable[[File, ClusterInputs], str], problem: str
) -> Callable[[ClusterInputs], Finding]:
    """Return the examination of all files of a sort: ``bad`` names a file that is not as it should be."""

    def examine(inputs: ClusterInputs) -> Finding:
        if inputs.files is None:
            return Finding(State.MANUAL, _ELSEWHERE)
        files = inputs.files.get(what, [])
        if not files:
            return Finding(State.NONE, _NO_FILE)
        return nobody(filter(None, (bad(file, inputs) for file in files)), problem, State.FAIL)

    return examine


def mode(what: str, most: int) -> Callable[[ClusterInputs], Finding]:
    """Return the examination that no file of a sort allows more than a mode; folders may be entered by their owner."""
    return _files(
        what,
        lambda file, inputs: f"{file.path} ({file.mode:o})" if file.mode & ~(most | 0o100) else "",
        f"more than {most:o}",
    )


def owned(what: str) -> Callable[[ClusterInputs], Finding]:
    """Return the examination that files of a sort belong to whoever runs the cluster."""
    return _files(
        what,
        lambda file, inputs: "" if file.uid in inputs.owners else file.path,
        "belongs to another user",
    )


def _pair(number: int, title: str, what: str, most: int) -> tuple[Check, Check]:
    return (
        Check(f"1.1.{number}", f"{title}: mode {most:o} or less", mode(what, most)),
        Check(f"1.1.{number + 1}", f"{title}: belongs to its user", owned(what)),
    )


CHECKS = (
    *_pair(1, "pod manifest of the API server", "manifests", 0o600),
    *_pair(3, "pod manifest of the controller manager", "manifests", 0o600),
    *_pair(5, "pod manifest of the scheduler", "manifests", 0o600),
    *_pair(7, "pod manifest of etcd", "manifests", 0o600),
    *_pair(9, "configuration of the container network", "network", 0o600),
    *_pair(11, "data of the store", "data", 0o700),
    *_pair(13, "the administrator's kubeconfig", "kubeconfig", 0o600),
    *_pair(15, "kubeconfig of the scheduler", "component kubeconfigs", 0o600),
    *_pair(17, "kubeconfig of the controller manager", "component kubeconfigs", 0o600),
    Check("1.1.19", "certificates and keys belong to their user", owned("certificates")),
    Check("1.1.20", "certificates: mode 644 or less", mode("certificates", 0o644)),
    Check("1.1.21", "keys: mode 600", mode("keys", 0o600)),
)
