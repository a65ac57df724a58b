"""Names, ordinals and claims of pods."""

from __future__ import annotations

import pytest

from pybernetes.control_plane.controllers.statefulset import identity
from tests.control_plane.controllers.builders import pod
from tests.control_plane.controllers.statefulset.stateful_sets import CLAIM, NEW, REFERENCE, stateful_set


def test_a_new_pod() -> None:
    given = stateful_set(1, volumeClaimTemplates=[CLAIM])
    given["spec"]["template"]["spec"]["volumes"] = [{"name": "data", "emptyDir": {}}, {"name": "tmp"}]
    created = identity.new_pod(given, given["spec"]["template"], NEW, 7, REFERENCE)
    assert created["metadata"] == {
        "name": "db-7", "generateName": "db-", "namespace": "default", "ownerReferences": [REFERENCE],
        "labels": {
            "app": "web", "statefulset.kubernetes.io/pod-name": "db-7", "apps.kubernetes.io/pod-index": "7",
            "controller-revision-hash": NEW,
        },
    }  # fmt: skip
    assert (created["spec"]["hostname"], created["spec"]["subdomain"]) == ("db-7", "svc")
    assert created["spec"]["volumes"] == [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-db-7"}},
        {"name": "tmp"},
    ]
    (claim,) = identity.claims_of(given, 7)
    assert claim["metadata"] == {"name": "data-db-7", "namespace": "default", "labels": {"app": "web"}}
    assert identity.is_itself(given, {**created, "status": {}})


@pytest.mark.parametrize(
    ("name", "expected"),
    [("db-0", ("db", 0)), ("a-b-12", ("a-b", 12)), ("db", ("", -1)), ("db-x", ("", -1)), ("db-99999999999", ("", -1))],
)  # fmt: skip
def test_places(name: str, expected: tuple[str, int]) -> None:
    assert identity.place(pod(name)) == expected
