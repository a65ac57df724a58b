"""Counters: one that is asked for late counts what one counts that was there from the start."""

from __future__ import annotations

import random

import pytest

from pybernetes.scheduling.counters import Counter
from pybernetes.scheduling.pods import Labels, Pod, PodReader
from pybernetes.scheduling.resource_requests import Resources
from pybernetes.scheduling.snapshot import Snapshot
from tests.scheduling.builders import pod


def is_a(labels: Labels) -> bool:
    return labels.labels.get("app") == "a"


@pytest.mark.parametrize("seed", range(5))
def test_early_and_late(seed: int) -> None:
    chance = random.Random(seed)
    resources = Resources()
    snapshot, reader = Snapshot(resources, capacity=2), PodReader(resources)

    def counters(name: object) -> tuple[Counter, Counter]:
        return snapshot.counter((name, "all"), is_a), snapshot.counter((name, "not deleting"), is_a, False)

    early = counters("early")
    placed: list[Pod] = []
    for number in range(200):
        if placed and chance.random() < 0.6:
            old = placed.pop(chance.randrange(len(placed)))
            if chance.random() < 0.5:
                snapshot.remove_pod(old)
                continue
            new = old.placed(old.node)
            new.deleting = not old.deleting
            snapshot.replace_pod(old, new)
        else:
            obj = pod(f"p{number}", labels={"app": chance.choice("ab")})
            obj["metadata"]["uid"] = str(number)
            new = reader.read(obj).placed(f"n{chance.randrange(8)}")
            snapshot.add_pod(new)
        placed.append(new)
        assert counters("early") == early  # what nobody asks for is dropped
        for before, after in zip(early, counters(number), strict=True):
            assert after.column.tolist() == before.column.tolist()
    counted = [item for item in placed if is_a(item.shape.labels)]
    assert early[0].column.sum() == len(counted)
    assert early[1].column.sum() == sum(not item.deleting for item in counted)
