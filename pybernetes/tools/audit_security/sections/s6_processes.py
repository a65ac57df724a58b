"""6: what the process of the control plane may do on its machine. The benchmark has no such section."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.tools.audit_security.check import Check, Finding, State, passed
from pybernetes.tools.audit_security.cluster_inputs import ClusterInputs, Process

_ELSEWHERE = "the process is on another machine: look there"
# It goes through closed folders, such as root's home, to its own files, and serves on a low port: DAC_READ_SEARCH and
# NET_BIND_SERVICE.
_HARMLESS = 1 << 2 | 1 << 10


def _process(problem: Callable[[Process], str], state: State) -> Callable[[ClusterInputs], Finding]:
    def examine(inputs: ClusterInputs) -> Finding:
        if inputs.process is None:
            return Finding(State.MANUAL, _ELSEWHERE)
        text = problem(inputs.process)
        return Finding(state, text) if text else passed()

    return examine


def _surplus(process: Process) -> str:
    more = process.capabilities & ~_HARMLESS
    return f"it has others: {more:#x}" if more else ""


CHECKS = (
    Check("6.1", "the control plane is no process of root", _process(
        lambda process: "" if process.uid else "it is", State.WARN)),
    Check("6.2", "the control plane has no capabilities but to find its files and to serve", _process(_surplus, State.WARN)),
    Check("6.3", "what the control plane executes gains no rights", _process(
        lambda process: "" if process.no_new_privileges else "it may", State.FAIL)),
)  # fmt: skip
