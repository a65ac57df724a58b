"""Pod: how its status may change."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.core.pod.pod import RESOURCE
from pybernetes.api.field import Errors
from tests.api.core.pod.pods import changed, make

RUNNING = {"name": "a", "state": {"running": {}}}
ENDED = {"name": "a", "state": {"terminated": {"exitCode": 1}}}
STAYS = "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"


@pytest.mark.parametrize(
    ("policy", "path", "value", "expected"),
    [
        ("Always", "status.containerStatuses", [RUNNING], []),
        ("OnFailure", "status.containerStatuses", [RUNNING], []),
        ("Never", "status.containerStatuses", [RUNNING], [STAYS]),
        ("Never", "status.phase", "Failed", []),
        ("Never", "status.qosClass", "Guaranteed",
         ['status.qosClass: Invalid value: "Guaranteed": field is immutable']),
        ("Never", "status.podIPs", [{"ip": "1.2.3.4"}, {"ip": "1.2.3.5"}],
         ['status.podIPs: Invalid value: [{"IP":"1.2.3.4"},{"IP":"1.2.3.5"}]: '
          "may specify no more than one IP for each IP family"]),
        ("Never", "status.nominatedNodeName", "n", []),
        ("Never", "status.resourceClaimStatuses", [{"name": "x"}],
         ['status.resourceClaimStatuses[0].name: Invalid value: "x": '
          "must match the name of an entry in `spec.resourceClaims`"]),
        ("Never", "status.observedGeneration", -1,
         ["status.observedGeneration: Invalid value: -1: must be a non-negative integer"]),
    ],
)  # fmt: skip
def test_status_update(policy: str, path: str, value: Any, expected: list[str]) -> None:
    old = make(restartPolicy=policy)
    old["status"]["containerStatuses"] = [ENDED]
    new = changed(old, path, value)
    assert RESOURCE.default and RESOURCE.prepare_status_update and RESOURCE.validate_status_update
    RESOURCE.default(new)
    RESOURCE.prepare_status_update(new, old)
    errors = Errors()
    RESOURCE.validate_status_update(new, old, errors)
    assert [str(error) for error in errors] == expected
