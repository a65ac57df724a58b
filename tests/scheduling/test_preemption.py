"""Preemption: who is evicted where, compared with a plain implementation of upstream's rules, and by tables."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.api.selectors import Selector
from pybernetes.scheduling import preemption
from pybernetes.scheduling.preemption import Candidate, cheapest
from tests.scheduling import reference
from tests.scheduling.builders import node, pod
from tests.scheduling.ours import Ours
from tests.scheduling.reference import World
from tests.scheduling.worlds import Maker


def importance(obj: Object) -> tuple[int, str]:
    return -obj["spec"]["priority"], obj.get("status", {}).get("startTime", "~")


def violating(pods: list[Object], budgets: list[Object]) -> set[str]:
    """Return the pods whose eviction would violate a budget if all went in this order."""
    allowed = [budget["status"]["disruptionsAllowed"] for budget in budgets]
    names = set()
    for obj in pods:
        for number, budget in enumerate(budgets):
            if budget["metadata"]["namespace"] == obj["metadata"]["namespace"] and reference.selects(
                budget["spec"]["selector"], reference.labels_of(obj)
            ):
                allowed[number] -= 1
                if allowed[number] < 0:
                    names.add(obj["metadata"]["name"])
                    break
    return names


def expected_victims(
    world: World, obj: Object, name: str, budgets: list[Object]
) -> tuple[list[str], int] | None:
    """Return the victims on a node and how many violate budgets; None if evictions do not help there."""
    target, before = world.nodes[name], list(world.on(name))
    lower = sorted(
        (other for other in before if other["spec"]["priority"] < obj["spec"]["priority"]), key=importance
    )
    if not lower:
        return None
    try:
        world.pods[name] = [other for other in before if other not in lower]
        if reference.verdict(world, obj, target)[0]:
            return None
        bad = violating(lower, budgets)
        victims, violations = [], 0
        for victim in sorted(lower, key=lambda one: one["metadata"]["name"] not in bad):
            world.pods[name].append(victim)
            if reference.verdict(world, obj, target)[0]:
                world.pods[name].remove(victim)
                victims.append(victim)
                violations += victim["metadata"]["name"] in bad
        return [victim["metadata"]["name"] for victim in sorted(victims, key=importance)], violations
    finally:
        world.pods[name] = before


@pytest.mark.parametrize("seed", range(6))
def test_victims_equal_the_rules(seed: int) -> None:
    tried = 0
    for number in range(120):
        chance = random.Random(seed * 1000 + number)
        maker = Maker(chance)
        world = maker.world()
        for pods in world.pods.values():
            for other in pods:
                other["status"]["startTime"] = f"2026-01-01T00:00:{chance.randrange(60):02d}Z"
        budgets = [
            {
                "metadata": {"name": f"b{index}", "namespace": "default"},
                "spec": {"selector": {"matchLabels": {"app": chance.choice("abc")}}},
                "status": {"disruptionsAllowed": chance.randrange(2)},
            }
            for index in range(chance.randrange(3))
        ]
        ours = Ours(world, chance)
        for budget in budgets:
            ours.object("poddisruptionbudgets", budget)
        obj = maker.pod()
        obj["metadata"].pop("deletionTimestamp", None)
        obj["spec"]["priority"] = 50
        if chance.random() < 0.5:  # one that only wants amounts
            for key in ("affinity", "topologySpreadConstraints", "nodeSelector"):
                obj["spec"].pop(key, None)
        decision = ours.decide(obj)
        if decision.node or decision.diagnosis is None or decision.diagnosis.message:
            continue
        tried += 1
        before = {name: [other["metadata"]["uid"] for other in world.on(name)] for name in world.nodes}
        outcome = ours.preempt(obj)
        wanted: dict[str, tuple[list[str], int]] = {}
        for name, target in world.nodes.items():
            _, (_, helpful) = reference.verdict(world, obj, target)
            expected = expected_victims(world, obj, name, budgets) if helpful else None
            if expected is not None and expected[0]:
                wanted[name] = expected
        assert bool(outcome.nominated) == bool(wanted), (outcome, wanted)
        if wanted:
            victims, violations = wanted[outcome.nominated or ""]
            assert [victim.name for victim in outcome.victims] == victims
            assert outcome.violations == violations
            by_name = {other["metadata"]["name"]: other for pods in world.pods.values() for other in pods}

            def cost(
                candidate: tuple[list[str], int], by_name: dict[str, Object] = by_name
            ) -> tuple[int, ...]:
                ranks = [by_name[name]["spec"]["priority"] for name in candidate[0]]
                return candidate[1], ranks[0], sum(rank + 2**31 for rank in ranks), len(ranks)

            assert cost(wanted[outcome.nominated or ""]) == min(map(cost, wanted.values()))
        # Trying things out leaves no trace.
        now = {name: [*ours.snapshot.pods[ours.snapshot.rows[name]]] for name in world.nodes}
        assert {name: sorted(pods) for name, pods in now.items()} == {
            name: sorted(pods) for name, pods in before.items()
        }
    assert tried > 20


def victim(name: str, priority: int, started: str = "") -> Any:
    ours = Ours()
    read = ours.pods.read({**pod(name, priority=priority), "status": {"startTime": started}})
    read.uid = name
    return read


@pytest.mark.parametrize(
    ("candidates", "best"),
    [
        # violations, then the highest priority, the sum, the number, and who started last
        ({0: ([victim("a", 1)], 1), 1: ([victim("b", 9)], 0)}, 1),
        ({0: ([victim("a", 5)], 0), 1: ([victim("b", 3), victim("c", 3)], 0)}, 1),
        ({0: ([victim("a", 5), victim("b", 1)], 0), 1: ([victim("c", 5)], 0)}, 1),
        ({0: ([victim("a", 5), victim("b", -(2**31))], 0), 1: ([victim("c", 5)], 0)}, 1),
        (
            {
                0: ([victim("a", 5, "2026-01-01T00:00:00Z")], 0),
                1: ([victim("b", 5, "2026-01-02T00:00:00Z")], 0),
            },
            1,
        ),
        ({0: ([victim("a", 5, "")], 0), 1: ([victim("b", 5, "2026-01-02T00:00:00Z")], 0)}, 0),
    ],
)
def test_the_node_with_the_least_harm_is_chosen(candidates: dict[int, Any], best: int) -> None:
    made = [Candidate.of(row, victims, violations) for row, (victims, violations) in candidates.items()]
    assert cheapest(made).row == best


def full_node() -> Ours:
    """Return a node with 4 CPUs and four pods of one CPU each."""
    ours = Ours()
    ours.node(node("n"))
    for number, priority in enumerate((0, 5, 10, 200)):
        ours.put(
            {
                **pod(f"p{number}", priority=priority),
                "metadata": {**pod(f"p{number}")["metadata"], "uid": f"u{number}"},
            },
            "n",
        )
    return ours


@pytest.mark.parametrize(
    ("cpu", "spec", "nominated", "victims", "text"),
    [
        ("1", {"priority": 100}, "n", ["p0"], "found a potential placement for pod on node n, preempting 1 victims"),
        ("2", {"priority": 100}, "n", ["p1", "p0"], "found a potential placement for pod on node n, preempting 2 victims"),
        ("4", {"priority": 100}, "", [], "0/1 nodes are available: 1 Insufficient cpu."),
        ("1", {"priority": 0}, "", [], "0/1 nodes are available: 1 No preemption victims found for incoming pod."),
        ("5", {"priority": 100}, "", [], "0/1 nodes are available: 1 Preemption is not helpful for scheduling."),
        ("1", {"priority": 100, "preemptionPolicy": "Never"}, None, [], preemption.NEVER),
    ],
)  # fmt: skip
def test_messages(cpu: str, spec: Object, nominated: str | None, victims: list[str], text: str) -> None:
    outcome = full_node().preempt(pod("new", cpu=cpu, **spec))
    assert (outcome.nominated, [victim.name for victim in outcome.victims], outcome.message) == (
        nominated,
        victims,
        text,
    )


def test_a_pod_waits_for_victims_that_are_on_their_way_out() -> None:
    ours = full_node()
    gone = ours.snapshot.pods[0]["u0"]
    gone.deleting = gone.preempted = True
    obj = {**pod("new", cpu="1", priority=100), "status": {"nominatedNodeName": "n"}}
    assert ours.preempt(obj).message == preemption.TERMINATING


def test_the_place_of_a_nominated_pod_is_not_given_away() -> None:
    ours = full_node()
    first = ours.pods.read(
        {
            **pod("first", cpu="1", priority=100),
            "metadata": {"name": "first", "namespace": "default", "uid": "f"},
        }
    )
    ours.nominations.add(first, "n")
    # p0's place is promised: the next one must take p1's as well.
    assert [victim.name for victim in ours.preempt(pod("second", cpu="1", priority=100)).victims] == [
        "p1",
        "p0",
    ]
    # Who comes later with a higher priority does not care.
    assert [victim.name for victim in ours.preempt(pod("third", cpu="1", priority=101)).victims] == ["p0"]
    ours.take("u0")
    assert ours.decide(pod("small", cpu="1", priority=0)).node == ""
    assert ours.decide(pod("important", cpu="1", priority=101)).node == "n"
    ours.nominations.remove("f")
    assert ours.decide(pod("small", cpu="1", priority=0)).node == "n"


def test_budgets_are_compared_with_labels_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0
    matches = Selector.matches

    def counting(self: Selector, labels: Any) -> bool:
        nonlocal calls
        calls += 1
        return matches(self, labels)

    ours = Ours()
    for number in range(20):
        ours.node(node(f"n{number}", cpu="1"))
        low = pod(f"low-{number}", "1", {"app": f"a{number % 2}"}, priority=0)
        low["metadata"]["uid"] = f"low-{number}"
        ours.put(low, f"n{number}")
    for number in range(50):
        spec = {"selector": {"matchLabels": {"app": f"a{number}"}}}
        meta = {"name": f"b{number}", "namespace": "default"}
        ours.object(
            "poddisruptionbudgets", {"metadata": meta, "spec": spec, "status": {"disruptionsAllowed": number}}
        )
    monkeypatch.setattr(Selector, "matches", counting)
    for name in ("p", "q"):
        high = pod(name, "1", priority=9)
        high["metadata"]["uid"] = name
        outcome = ours.preempt(high)
        assert outcome.violations == 0 and outcome.victims[0].shape.labels.labels == {"app": "a1"}
    assert calls <= 2 * 50  # sorts of labels and budgets, not pods
