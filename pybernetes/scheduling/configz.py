"""A scheduler's configuration as the KubeSchedulerConfiguration that ``/configz`` shows."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.api.text.durations import show_duration
from pybernetes.scheduling.config import GROUP, KIND, VERSION, Configuration

NAME = "componentconfig"


def configuration(settings: Configuration) -> Object:
    """Return the object that stands for a configuration."""
    return {
        "kind": KIND,
        "apiVersion": f"{GROUP}/{VERSION}",
        "leaderElection": {
            "leaderElect": settings.leader_elect,
            "leaseDuration": show_duration(settings.lease_seconds),
            "renewDeadline": show_duration(settings.renew_seconds),
            "retryPeriod": show_duration(settings.retry_seconds),
            "resourceLock": "leases",
            "resourceName": settings.lease_name,
            "resourceNamespace": settings.lease_namespace,
        },
        "clientConnection": {
            "kubeconfig": settings.kubeconfig,
            "contentType": "application/json",
            "qps": settings.qps,
            "burst": settings.burst,
        },
        "podInitialBackoffSeconds": settings.pod_initial_backoff_seconds,
        "podMaxBackoffSeconds": settings.pod_max_backoff_seconds,
        "profiles": [
            {
                "schedulerName": profile.scheduler_name,
                "percentageOfNodesToScore": profile.percentage_of_nodes_to_score,
                "plugins": profile.plugins,
                "pluginConfig": [
                    {"name": name, "args": arguments}
                    for name, arguments in profile.arguments.items()
                    if arguments
                ],
            }
            for profile in settings.profiles
        ],
    }
