"""Owners: the same answers as counting pod by pod."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from pybernetes.control_plane.descheduler.owners import Owners
from pybernetes.control_plane.descheduler.pod_records import PodRecord
from tests.control_plane.descheduler.worlds import cluster, node, pod


def records(owners: list[list[str]]) -> list[PodRecord]:
    pods = [
        pod(f"p{number}", owners=[{"kind": "ReplicaSet", "name": uid, "uid": uid} for uid in uids])
        for number, uids in enumerate(owners)
    ]
    return list(cluster([node("n1")], pods).records.values())


@pytest.mark.parametrize("seed", range(10))
def test_the_same_as_counting(seed: int) -> None:
    chance = random.Random(seed)
    owners = [chance.choices("abcd", k=chance.choice([0, 1, 1, 1, 2, 3])) for _ in range(20)]
    alive = np.array([chance.random() < 0.8 for _ in owners])
    replicas = Counter(uid for uids, there in zip(owners, alive, strict=True) if there for uid in uids)
    for least in (1, 2, 5):
        enough = [len(uids) != 1 or replicas[uids[0]] >= least for uids in owners]
        assert Owners(records(owners)).with_replicas(least, alive).tolist() == enough


def test_no_pods() -> None:
    assert Owners([]).with_replicas(2, np.zeros(0, dtype=np.bool_)).tolist() == []
