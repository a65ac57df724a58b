"""The flags of leader election, which several programs have."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from pybernetes.api import feature_gates
from pybernetes.lib.flags import Flag, Seconds

if TYPE_CHECKING:
    from pybernetes.runtime.election import Election


def election_flags(name: str) -> tuple[Flag, ...]:
    """Return the flags of a program whose lease has its name by default."""
    return (
        Flag("leader-elect", True, "work only while holding the lease, so that several can stand by"),
        Flag("leader-elect-lease-duration", Seconds(15), "how long others wait for a leader that is silent"),
        Flag(
            "leader-elect-renew-deadline", Seconds(10), "how long a leader tries to renew before it gives up"
        ),
        Flag("leader-elect-retry-period", Seconds(2), "time between two attempts"),
        Flag("leader-elect-resource-lock", "leases", "only leases are supported"),
        Flag("leader-elect-resource-name", name, "name of the lease"),
        Flag("leader-elect-resource-namespace", "kube-system", "namespace of the lease"),
    )


def election(options: argparse.Namespace, name: str = "") -> Election | None:
    """Return the election that the flags ask for; None if the program works without.

    Those that coordinated leader election is for give their name.
    """
    from pybernetes.runtime.election import Election

    if not options.leader_elect:
        return None
    gates = feature_gates.of_component(name, options.feature_gates) if name else {}
    return Election(
        options.leader_elect_resource_name,
        options.leader_elect_resource_namespace,
        lease_seconds=options.leader_elect_lease_duration,
        renew_seconds=options.leader_elect_renew_deadline,
        retry_seconds=options.leader_elect_retry_period,
        coordinated=gates.get(feature_gates.COORDINATED, False),
    )
