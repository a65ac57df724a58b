"""Checks of one flag of a component."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.tools.audit_security.check import Finding, State, passed
from pybernetes.tools.audit_security.cluster_inputs import ClusterInputs

_UNREAD = "its flags cannot be read: look at how it is started"
Verdict = Callable[[str], Finding]


def words(value: str) -> list[str]:
    """Return the parts of a flag that holds a list."""
    return [word for word in value.strip("[]").replace(" ", ",").split(",") if word]


def of_apiserver(flag: str, judge: Verdict) -> Callable[[ClusterInputs], Finding]:
    """Return the examination of a flag of the API server; a flag that is not there is empty."""

    def examine(inputs: ClusterInputs) -> Finding:
        if inputs.apiserver is None:
            return Finding(State.MANUAL, _UNREAD)
        return judge(inputs.apiserver.get(flag, ""))

    return examine


def of_component(component: str, flag: str, judge: Verdict) -> Callable[[ClusterInputs], Finding]:
    """Return the examination of a flag of a component that may be a part of the local control plane's one process."""

    def examine(inputs: ClusterInputs) -> Finding:
        if component in inputs.components:
            return judge(inputs.components[component].get(flag, ""))
        if inputs.files is not None:
            return Finding(State.NONE, f"{component} has no process, port or file of its own here")
        return Finding(State.MANUAL, _UNREAD)

    return examine


def equals(value: str, *, otherwise: str, state: State = State.FAIL) -> Verdict:
    """Return the verdict that wants one value."""
    return lambda given: passed() if given == value else Finding(state, otherwise)


def given(otherwise: str, *, state: State = State.FAIL) -> Verdict:
    """Return the verdict that wants any value."""
    return lambda value: passed() if value not in ("", "[]") else Finding(state, otherwise)


def not_given(otherwise: str, *, state: State = State.FAIL) -> Verdict:
    """Return the verdict that wants none."""
    return lambda value: passed() if value in ("", "[]") else Finding(state, otherwise)


def has(word: str, otherwise: str, *, state: State = State.FAIL) -> Verdict:
    """Return the verdict that wants a word in a list."""
    return lambda value: passed() if word in words(value) else Finding(state, otherwise)


def has_not(word: str, otherwise: str) -> Verdict:
    """Return the verdict that wants a word not to be in a list."""
    return lambda value: passed() if word not in words(value) else Finding(State.FAIL, otherwise)


def at_least(number: int, otherwise: str) -> Verdict:
    """Return the verdict that wants a number."""

    def judge(value: str) -> Finding:
        try:
            enough = float(value) >= number
        except ValueError:
            enough = False
        return passed() if enough else Finding(State.FAIL, otherwise)

    return judge
