"""The affinity terms of pods on nodes: what is counted, and how much memory thousands of them take."""

from __future__ import annotations

import random
import tracemalloc

import numpy as np
import pytest

from pybernetes.scheduling import term_tallies
from pybernetes.scheduling.columns import LabelColumn
from pybernetes.scheduling.counters import Tally
from pybernetes.scheduling.pods import Pod, PodReader
from pybernetes.scheduling.resource_requests import Resources
from pybernetes.scheduling.term_tallies import COLUMNS, SparseTally, TermTallies
from tests.scheduling.builders import pod

NODES = 5000
SIDES = ("podAffinity", "podAntiAffinity")


def wishing(name: str, terms: int, side: str = "podAffinity") -> Pod:
    wanted = [
        {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": str(number)}}}
        for number in range(terms)
    ]
    affinity = {side: {"requiredDuringSchedulingIgnoredDuringExecution": wanted}}
    return PodReader(Resources()).read(pod(name, affinity=affinity))


def zones(rows: int) -> LabelColumn:
    label = LabelColumn(rows)
    for row in range(rows):
        label.set(row, f"zone-{row % 7}" if row % 5 else None)
    return label


LABEL = zones(NODES)


def test_thousands_of_terms_of_one_pod_take_little() -> None:
    """A column for each was 8 bytes for every node: 320 MB for a pod with 8,000 terms."""
    many = wishing("p", 8000)
    tracemalloc.start()
    try:
        tallies = TermTallies(NODES)
        tallies.count(many, 4711, 1)
        for tally in tallies.required.values():
            tally.sums(LABEL, 0)
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(tallies.required) == 8000 and taken < COLUMNS * NODES * 8 + (12 << 20)
    tallies.count(many, 4711, -1)
    assert not tallies.required and not tallies.weight
    tallies.count(many, 1, 1)  # columns are given out anew
    assert sum(isinstance(tally, Tally) for tally in tallies.required.values()) == COLUMNS


@pytest.mark.parametrize("columns", [0, 3, COLUMNS])
def test_it_counts_the_same_with_and_without_columns(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(term_tallies, "COLUMNS", columns)
    chance, size = random.Random(columns), 64
    tallies, label = TermTallies(size // 2), zones(size)
    kinds = [wishing(f"{side}-{terms}", terms, side) for side in SIDES for terms in (1, 4, 9)]
    placed: list[tuple[Pod, int]] = []
    for step in range(600):
        if step == 100:
            tallies.grow(size)
        if placed and chance.random() < (0.4 if step < 500 else 1):
            old, row = placed.pop(chance.randrange(len(placed)))
            tallies.count(old, row, -1)
        else:
            placed.append((chance.choice(kinds), chance.randrange(size // 2 if step < 100 else size)))
            tallies.count(*placed[-1], 1)
        if step < 100 or step % 10:
            continue
        for known, of in ((tallies.required, "affinity"), (tallies.anti, "anti")):
            wanted: dict[object, list[int]] = {}
            for item, row in placed:
                for term in getattr(item.shape.affinity, of):
                    wanted.setdefault(term, [0] * len(label.values))[label.codes[row]] += 1
            assert {term: tally.sums(label, 1).tolist() for term, tally in known.items()} == wanted


def test_a_term_that_many_nodes_have_gets_a_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(term_tallies, "COLUMNS", 0)
    tallies, one = TermTallies(80), wishing("p", 1)
    kinds = []
    for row in range(20):
        tallies.count(one, row, 1)
        kinds.append(type(next(iter(tallies.required.values()))))
    assert kinds == [SparseTally] * 10 + [Tally] * 10
    label = zones(80)
    sums = next(iter(tallies.required.values())).sums(label, 0)
    assert sums.tolist() == np.bincount(label.codes[:20], minlength=len(label.values)).tolist()
