"""Feature gates."""

from __future__ import annotations

import logging

import pytest

from pybernetes.api import feature_gates


def test_known() -> None:
    gates = feature_gates.known()
    assert len(gates) == 242
    assert gates["HPAScaleToZero"].stage in ("Alpha", "Beta")
    assert all(gate.default is False for gate in gates.values() if gate.stage == "Alpha")
    assert all(gate.default is True for gate in gates.values() if gate.stage == "GA")


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        (["NoSuchGate=true"], "unrecognized feature gate: NoSuchGate"),
        (["ComponentStatusz"], "missing bool value for ComponentStatusz"),
        (["ComponentStatusz=maybe"],
         'invalid value of ComponentStatusz=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax'),
        (["AllAlpha=true", "NoSuchGate=false"], "unrecognized feature gate: NoSuchGate"),
    ],
)  # fmt: skip
def test_what_is_refused(texts: list[str], problem: str) -> None:
    with pytest.raises(ValueError) as error:
        feature_gates.from_flag(texts)
    assert str(error.value) == f'invalid argument "{",".join(texts)}" for "--feature-gates" flag: {problem}'


def test_a_locked_gate_stays() -> None:
    name = next(name for name, gate in feature_gates.known().items() if gate.locked and gate.default)
    with pytest.raises(
        ValueError, match=f"cannot set feature gate {name} to false, feature is locked to true"
    ):
        feature_gates.from_flag([f"{name}=false"])
    assert feature_gates.from_flag([f"{name}=true"])[name]


def test_what_is_honoured_is_switched(caplog: pytest.LogCaptureFixture) -> None:
    alpha = [name for name, gate in feature_gates.known().items() if gate.stage == "Alpha"]
    with caplog.at_level(logging.WARNING):
        states = feature_gates.from_flag([f"{alpha[0]}=true"], honoured=[alpha[0]])
    assert states[alpha[0]] and not states[alpha[1]] and not caplog.records


def test_what_is_not_honoured_is_told(caplog: pytest.LogCaptureFixture) -> None:
    alpha = next(name for name, gate in feature_gates.known().items() if gate.stage == "Alpha")
    with caplog.at_level(logging.WARNING):
        states = feature_gates.from_flag([f"{alpha}=true"])
    assert not states[alpha]
    assert f"feature gate {alpha}=true changes nothing here" in caplog.text


def test_all_of_a_stage_are_those_that_can_be_switched(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        states = feature_gates.from_flag(["AllBeta=false", "AllAlpha=true"])
    assert {name for name, state in states.items() if state != feature_gates.known()[name].default} == {
        feature_gates.NATIVE_HISTOGRAMS
    }
    assert "AllAlpha=true changes only those that can be changed here: NativeHistograms" in caplog.text
    assert feature_gates.from_flag(["AllBeta=false", "NativeHistograms=true"])[
        feature_gates.NATIVE_HISTOGRAMS
    ]


def test_a_retired_gate_only_warns(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        feature_gates.from_flag(["IPv6DualStack=true"])
    assert "IPv6DualStack" in caplog.text
