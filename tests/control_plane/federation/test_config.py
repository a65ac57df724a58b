from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.federation import config


def test_what_a_config_says() -> None:
    read = config.read(
        {
            "spec": {
                "scope": "Namespaced",
                "controllerDuration": {"availableDelay": "20s", "unavailableDelay": "1m"},
                "clusterHealthCheck": {"period": "5s", "failureThreshold": 7, "timeout": "100ms"},
                "syncController": {"adoptResources": "Disabled", "maxConcurrentReconciles": 9},
                "featureGates": [{"name": "RawResourceStatusCollection", "configuration": "Enabled"}],
            }
        }
    )
    assert read.one_namespace and not read.adopts and read.workers == 9
    assert (read.available_delay, read.unavailable_delay, read.probe_period, read.probe_timeout) == (
        20,
        60,
        5,
        0.1,
    )
    assert (read.failure_threshold, read.success_threshold) == (7, 1)
    assert read.gates == {
        "PushReconciler": True,
        "SchedulerPreferences": True,
        "RawResourceStatusCollection": True,
    }
    assert config.read({"spec": {"scope": "Cluster"}}) == config.Config()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"clusterHealthCheck": {"period": "soon"}}, "spec.clusterHealthCheck.period"),
        ({"clusterHealthCheck": {"period": "0s"}}, "too short"),
        ({"clusterHealthCheck": {"failureThreshold": 0}}, "at least 1"),
        ({"leaderElect": {"renewDeadline": "20s"}}, "spec.leaderElect.leaseDuration"),
        ({"leaderElect": {"retryPeriod": "9s"}}, "spec.leaderElect.renewDeadline"),
        ({"featureGates": [{"name": "Magic", "configuration": "Enabled"}]}, "Magic"),
    ],
)
def test_what_cannot_be_names_the_field(spec: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        config.read({"spec": spec})
