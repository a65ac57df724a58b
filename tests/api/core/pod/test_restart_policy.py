"""Whether a container that ended starts again."""

import pytest

from pybernetes.api.core.pod.restart_policy import all_could_restart, should_restart
from pybernetes.api.resource import Object


@pytest.mark.parametrize(
    ("own", "pod", "code", "expected"),
    [
        ({}, "Always", 0, True),
        ({}, "OnFailure", 0, False),
        ({}, "OnFailure", 1, True),
        ({}, "Never", 1, False),
        ({"restartPolicy": "Always"}, "Never", 0, True),
        ({"restartPolicy": "Never"}, "Always", 1, False),
        ({"restartPolicy": "Never", "restartPolicyRules": [
            {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]}, "Never", 42, True),
        ({"restartPolicy": "Never", "restartPolicyRules": [
            {"action": "Restart", "exitCodes": {"operator": "NotIn", "values": [42]}}]}, "Never", 42, False),
    ],
)  # fmt: skip
def test_should_restart(own: Object, pod: str, code: int, expected: bool) -> None:
    assert should_restart(own, pod, code) is expected


def test_all_could_restart() -> None:
    rule = {"restartPolicyRules": [{"action": "RestartAllContainers"}]}
    assert all_could_restart({"initContainers": [rule]})
    assert not all_could_restart({"containers": [{}]})
