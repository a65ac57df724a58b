"""What comes next in an election."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.apiserver.leader_election import election
from pybernetes.control_plane.apiserver.leader_election.election import NOTHING, Step
from pybernetes.lib import rfc3339

NOW = 1_800_000_000.0
Object = dict[str, Any]
OLDEST = "OldestEmulationVersion"


def candidate(
    name: str, emulated: str = "1.37.0", binary: str = "1.37.0", *, ping: float | None = None, renewed: float | None = -1.0,
    created: str = "2026-01-01T00:00:00Z", strategy: str = OLDEST,
) -> Object:  # fmt: skip
    spec: Object = {
        "leaseName": "l",
        "emulationVersion": emulated,
        "binaryVersion": binary,
        "strategy": strategy,
    }
    if ping is not None:
        spec["pingTime"] = rfc3339.micro(NOW + ping)
    if renewed is not None:
        spec["renewTime"] = rfc3339.micro(NOW + renewed)
    return {"metadata": {"name": name, "creationTimestamp": created}, "spec": spec}


def lease(holder: str, renewed: float = -1.0, **more: Any) -> Object:
    spec = {
        "holderIdentity": holder,
        "leaseDurationSeconds": 15,
        "renewTime": rfc3339.micro(NOW + renewed),
        **more,
    }
    return {"metadata": {"name": "l"}, "spec": spec}


@pytest.mark.parametrize(
    ("current", "candidates", "expected"),
    [
        (None, [], NOTHING),
        (None, [candidate("a")], Step(strategy=OLDEST, holder="a")),
        (lease("a"), [candidate("a")], NOTHING),
        (lease("a", -20), [candidate("a", renewed=-20), candidate("b")], Step(ask=("a",))),
        # Asked and silent: waited for, and then done without.
        (lease("a", -20), [candidate("a", renewed=-20, ping=-3), candidate("b")], NOTHING),
        (lease("a", -20), [candidate("a", renewed=-20, ping=-6), candidate("b")], Step(strategy=OLDEST, holder="b")),
        # An older version is preferred to who leads.
        (lease("a"), [candidate("a"), candidate("b", "1.36.0")], Step(strategy=OLDEST, holder="b")),
        (lease("a"), [candidate("a"), candidate("b", "1.36.0", renewed=-60)], Step(ask=("b",))),
        # Those that nobody has heard of for long are asked although all is well.
        (lease("a"), [candidate("a", renewed=-1000)], Step(ask=("a",))),
        # Programs of one version that want different things are left alone, other strategies to others.
        (None, [candidate("a"), candidate("b", strategy="example.com/x")], NOTHING),
        (None, [candidate("a", strategy="example.com/x")], Step(strategy="example.com/x")),
        (None, [candidate("a", "x", "x"), candidate("b")], Step(strategy=OLDEST, holder="b")),
    ],
)  # fmt: skip
def test_steps(current: Object | None, candidates: list[Object], expected: Step) -> None:
    assert election.step(current, candidates, NOW) == expected


def test_who_is_best() -> None:
    listed = [
        candidate("new", "1.37.0", "1.37.0"),
        candidate("emulates", "1.36.0", "1.37.0"),
        candidate("old", "1.36.0", "1.36.0", created="2026-01-02T00:00:00Z"),
        candidate("older", "1.36.0", "1.36.0", created="2026-01-01T00:00:00Z"),
        candidate("broken", "x", "1.0.0"),
    ]
    chosen = election.best(listed)
    assert chosen is not None and chosen["metadata"]["name"] == "older"
    assert election.best([]) is None


def test_a_holder_that_is_alive_is_asked_to_go() -> None:
    decided = Step(strategy=OLDEST, holder="b")
    alive = election.elected(lease("a", strategy=OLDEST), decided, NOW)
    assert alive is not None and (alive["holderIdentity"], alive["preferredHolder"]) == ("a", "b")
    dead = election.elected(lease("a", -20, preferredHolder="b", strategy=OLDEST), decided, NOW)
    assert dead is not None and dead["holderIdentity"] == "b" and "preferredHolder" not in dead
    assert dead["leaseDurationSeconds"] == 5
    assert election.elected(lease("b", strategy=OLDEST), decided, NOW) is None
    assert election.gone(candidate("a", renewed=-1801), NOW) and not election.gone(candidate("a"), NOW)
