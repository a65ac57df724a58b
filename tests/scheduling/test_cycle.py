"""Decisions equal upstream's rules: compared with a plain implementation on random clusters."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pybernetes.api.resource import Object
from pybernetes.scheduling.plugin import Scope
from tests.scheduling import reference
from tests.scheduling.ours import Ours
from tests.scheduling.reference import World
from tests.scheduling.worlds import Maker


def compare_filters(world: World, ours: Ours, obj: Object) -> dict[str, bool]:
    """Return every filter on every node; gives which nodes are left."""
    pod, snapshot = ours.pods.read(obj), ours.snapshot
    left = dict.fromkeys(world.nodes, True)
    for plugin in ours.profile.filters:
        rule = reference.FILTERS.get(plugin.name)
        active = plugin.filter_key(pod) is not None
        codes = plugin.filter(pod, snapshot.all) if active else np.zeros(snapshot.size, dtype=np.int64)
        for name, node in world.nodes.items():
            row = snapshot.rows[name]
            code = int(codes[row])
            if rule is not None:
                reasons, helpful = rule(world, obj, node)
                assert (plugin.reasons(pod, code) if code else ()) == reasons, (plugin.name, name, obj)
                assert code == 0 or (code > 0) == helpful, (plugin.name, name, code)
            if active:
                assert int(plugin.filter(pod, slice(row, row + 1))[0]) == code
                assert plugin.filter_row(pod, row) == code
            left[name] = left[name] and code == 0
    return left


def compare_scores(world: World, ours: Ours, obj: Object, names: list[str]) -> dict[str, int]:
    """Return every score of the nodes that are left; gives the totals."""
    pod, snapshot = ours.pods.read(obj), ours.snapshot
    rows = np.array([snapshot.rows[name] for name in names])
    totals = dict.fromkeys(names, 0)
    for plugin, weight in ours.profile.scores:
        if plugin.name not in reference.SCORES:
            continue
        rule, expected_weight = reference.SCORES[plugin.name]
        assert weight == expected_weight
        expected = rule(world, obj, names)
        for name in names:
            totals[name] += weight * expected[name]
        if plugin.score_key(pod) is None:
            assert len(set(expected.values())) <= 1, (plugin.name, expected)
            continue
        scores = plugin.score(pod, rows)
        if plugin.score_scope is not Scope.CLUSTER:
            assert [plugin.score_row(pod, int(row)) for row in rows] == scores.tolist(), plugin.name
        if plugin.normalizes:
            scores = plugin.normalize(pod, scores, rows)
        assert dict(zip(names, map(int, scores), strict=True)) == expected, plugin.name
    return totals


def compare(world: World, ours: Ours, obj: Object) -> str:
    """Return one decision; gives the node that was chosen."""
    left = compare_filters(world, ours, obj)
    names = [name for name, ok in left.items() if ok]
    decision = ours.decide(obj)
    if names:
        totals = compare_scores(world, ours, obj, names)
        assert decision.node in names
        assert totals[decision.node] == max(totals.values()), (decision.node, totals)
        return decision.node
    assert decision.node == "" and decision.diagnosis is not None
    if decision.diagnosis.message:  # turned away before any node was looked at
        return ""
    counts: dict[str, int] = {}
    plugins, helpful = set(), set()
    for name, node in world.nodes.items():
        plugin, (reasons, helps) = reference.verdict(world, obj, node)
        plugins.add(plugin)
        for reason in reasons:
            counts[reason] = counts.get(reason, 0) + 1
        if helps:
            helpful.add(name)
    if not any("didn't satisfy plugin(s)" in reason for reason in decision.diagnosis.counts):
        assert decision.diagnosis.counts == counts
        assert decision.diagnosis.plugins == plugins
    assert {ours.snapshot.names[row] for row in decision.diagnosis.resolvable} == helpful
    return ""


@pytest.mark.parametrize("seed", range(8))
def test_decisions_equal_the_rules(seed: int) -> None:
    for number in range(150):
        chance = random.Random(seed * 1000 + number)
        maker = Maker(chance)
        world = maker.world()
        ours = Ours(world, chance)
        for _ in range(3):
            obj = maker.pod()
            obj["metadata"].pop("deletionTimestamp", None)
            compare(world, ours, obj)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_kept_stays_true(seed: int) -> None:
    """Nodes and pods come, change and go between decisions, many of them about pods of the same few shapes."""
    chance = random.Random(5000 + seed)
    maker = Maker(chance)
    world = maker.world()
    ours = Ours(world, chance)
    shapes = [maker.pod() for _ in range(4)]
    for number in range(150):
        match chance.randrange(10):
            case 0:
                name = f"n{chance.randrange(10)}"
                world.nodes[name] = maker.node(name)
                ours.node(world.nodes[name])
            case 1 if len(world.nodes) > 1:
                name = chance.choice(list(world.nodes))
                if not world.on(name):
                    del world.nodes[name]
                    ours.snapshot.remove_node(name)
            case 2 | 3 if any(world.pods.values()):
                name = chance.choice([name for name, pods in world.pods.items() if pods])
                gone = world.pods[name].pop(chance.randrange(len(world.pods[name])))
                ours.take(gone["metadata"]["uid"])
            case _:
                shape = chance.choice(shapes)
                meta = {**shape["metadata"], "name": f"new-{number}", "uid": f"new-{number}"}
                meta.pop("deletionTimestamp", None)
                obj = {**shape, "metadata": meta}
                node = compare(world, ours, obj)
                if node:
                    world.pods.setdefault(node, []).append(obj)
                    ours.put(obj, node)
