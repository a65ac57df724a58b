"""An explanation says the same as the decision, on random clusters."""

from __future__ import annotations

import random

from pybernetes.api.resource import Object
from pybernetes.scheduling.explanation import explain
from tests.scheduling.builders import node, pod
from tests.scheduling.ours import Ours
from tests.scheduling.worlds import Maker


def compare(ours: Ours, names: set[str], obj: Object) -> str:
    """Compare the explanation of a pod with the decision about it; return its node."""
    read = ours.pods.read(obj)
    explanation, decision = explain(ours.cycle, read), ours.cycle.decide(read)
    turned_down = {name for verdict in explanation.verdicts for name in verdict.nodes}
    if decision.node:
        assert decision.node in explanation.best and decision.node not in turned_down
        assert explanation.feasible == len(names) - len(turned_down)
        totals = [score.total for score in explanation.scores]
        assert totals == sorted((sum(score.parts.values()) for score in explanation.scores), reverse=True)
        assert explanation.scores[0].node in explanation.best
        return decision.node
    assert decision.diagnosis is not None
    assert explanation.feasible == 0 and not explanation.best
    if decision.diagnosis.message:
        assert decision.diagnosis.message in explanation.rejection
    else:
        assert turned_down == names
        assert decision.diagnosis.counts.keys() <= {verdict.reason for verdict in explanation.verdicts}
    return ""


def test_it_agrees_with_the_decision() -> None:
    chosen = []
    for seed in range(60):
        maker = Maker(random.Random(seed))
        world = maker.world()
        ours = Ours(world, random.Random(seed))
        for _ in range(5):
            obj = maker.pod()
            chosen.append(compare(ours, set(world.nodes), obj))
            if chosen[-1]:
                ours.put(obj, chosen[-1])
    assert 30 < sum(map(bool, chosen)) < len(chosen) - 30


def test_every_filter_has_its_say_and_pods_with_a_promise_count() -> None:
    ours = Ours()
    for name, unschedulable in (("a", True), ("b", False), ("c", False)):
        ours.node(node(name, cpu="1", unschedulable=unschedulable))
    first = pod("first", "1", priority=9)
    first["metadata"]["uid"] = "first"
    ours.nominations.add(ours.pods.read(first), "b")
    explanation = explain(ours.cycle, ours.pods.read(pod("p", "2")))
    verdicts = {(verdict.plugin, verdict.nodes) for verdict in explanation.verdicts}
    assert verdicts == {("NodeUnschedulable", ("a",)), ("NodeResourcesFit", ("a", "b", "c"))}
    explanation = explain(ours.cycle, ours.pods.read(pod("q", "1")))
    assert explanation.best == ("c",)


def test_a_pod_for_one_node_only() -> None:
    ours = Ours()
    for name in ("a", "b"):
        ours.node(node(name))
    field = {"key": "metadata.name", "operator": "In", "values": ["a"]}
    required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    explanation = explain(ours.cycle, ours.pods.read(pod("p", affinity=affinity)))
    assert explanation.best == ("a",)
    assert explanation.verdicts == (
        ("NodeAffinity", "node(s) didn't satisfy plugin(s) [NodeAffinity]", ("b",)),
    )
