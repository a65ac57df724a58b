"""DefaultTolerationSeconds: what it sets, and what it refuses."""

from __future__ import annotations

import pytest

from tests.control_plane.apiserver.admission.plugins.pods import (
    spec_after,
)
from tests.control_plane.apiserver.admission.world import Object, pod

NOT_READY = {
    "key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300
}  # fmt: skip


UNREACHABLE = {**NOT_READY, "key": "node.kubernetes.io/unreachable"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, [NOT_READY, UNREACHABLE]),
        ([{"operator": "Exists"}], [{"operator": "Exists"}]),
        ([{**NOT_READY, "tolerationSeconds": 1}], [{**NOT_READY, "tolerationSeconds": 1}, UNREACHABLE]),
        ([{**NOT_READY, "effect": "NoSchedule"}], [{**NOT_READY, "effect": "NoSchedule"}, NOT_READY, UNREACHABLE]),
        ([{"operator": "Exists", "effect": "NoSchedule"}],
         [{"operator": "Exists", "effect": "NoSchedule"}, NOT_READY, UNREACHABLE]),
    ],
)  # fmt: skip
def test_default_toleration_seconds(given: list[Object] | None, expected: list[Object]) -> None:
    spec = spec_after("DefaultTolerationSeconds", pod(tolerations=given) if given else pod())
    assert spec["tolerations"] == expected


def test_default_toleration_seconds_are_set_by_flags() -> None:
    spec = spec_after("DefaultTolerationSeconds", pod(), flags={"default_not_ready_toleration_seconds": 7})
    assert [toleration["tolerationSeconds"] for toleration in spec["tolerations"]] == [7, 300]
