"""A simulation does what the scheduler does: order, room, preemption; and leaves no trace when undone."""

from __future__ import annotations

from pybernetes.tools.what_if.cluster import Cluster
from pybernetes.tools.what_if.simulation import NEW, Simulation
from tests.scheduling.builders import node
from tests.tools.what_if.clusters import ZONE, cluster, pending, running


def simulate(world: Cluster) -> Simulation:
    simulation = Simulation(world, frozenset((NEW,)))
    simulation.enqueue_waiting()
    simulation.run()
    return simulation


def places(simulation: Simulation) -> dict[str, str]:
    return {placement.pod.name: placement.node for placement in simulation.placements.values()}


def test_pods_come_by_priority_and_then_by_age() -> None:
    old, new = pending("old", "3"), pending("new", "3")
    new["metadata"]["creationTimestamp"] = "2026-01-01T00:00:09Z"
    important = pending("important", "3", priority=5)
    important["metadata"]["creationTimestamp"] = "2026-01-01T00:00:10Z"
    world = cluster([node("n0"), node("n1")], [new, important, old])
    node_of = places(simulate(world))
    assert node_of["new"] == ""
    assert {node_of["old"], node_of["important"]} == {"n0", "n1"}


def test_what_is_assumed_is_taken() -> None:
    world = cluster([node("n0", pods="2"), node("n1", pods="1")], [pending(f"p{n}") for n in range(4)])
    node_of = places(simulate(world))
    assert sorted(node_of.values()) == ["", "n0", "n0", "n1"]


def test_preemption_takes_the_least_important_and_its_controller_makes_another() -> None:
    pods = [
        running("low", "n0", "3", priority=1),
        running("lower", "n1", "3", priority=0),
        running("small", "n2", "1"),
    ]
    world = cluster([node("n0"), node("n1"), node("n2", cpu="3")], [*pods, pending("high", "4", priority=9)])
    simulation = simulate(world)
    high, lower = simulation.placements["uid-high"], simulation.placements["uid-lower"]
    assert high.node == "n1" and [victim.pod.name for victim in high.victims] == ["lower"]
    assert (lower.was_on, lower.node, lower.gone) == ("n1", "", False)
    assert "Insufficient cpu" in lower.message


def test_a_victim_without_a_controller_is_gone() -> None:
    world = cluster([node("n0")], [running("bare", "n0", "3", owner=""), pending("high", "2", priority=9)])
    simulation = simulate(world)
    assert simulation.placements["uid-bare"].gone
    assert simulation.placements["uid-high"].node == "n0"


def test_alike_pods_preempt_one_after_the_other() -> None:
    pods = [running(f"low{n}", f"n{n}", "4") for n in range(3)]
    world = cluster(
        [node(f"n{n}") for n in range(3)], [*pods, *(pending(f"high{n}", "4", priority=9) for n in range(4))]
    )
    node_of = places(simulate(world))
    assert sorted(node_of[f"high{n}"] for n in range(4)) == ["", "n0", "n1", "n2"]


def test_gates_and_foreign_schedulers_are_named() -> None:
    gated = pending("gated", schedulingGates=[{"name": "example.com/wait"}])
    foreign = pending("foreign", schedulerName="other")
    simulation = simulate(cluster([node("n0")], [gated, foreign]))
    messages = {placement.pod.name: placement.message for placement in simulation.placements.values()}
    assert "example.com/wait" in messages["gated"] and "other" in messages["foreign"]
    assert set(places(simulation).values()) == {""}


def test_another_pod_does_not_have_the_labels_of_its_predecessors_place() -> None:
    old = running("old", "n0", labels={"app": "app", ZONE: "z0"})
    world = cluster([node("n0"), node("n1")], [old])
    simulation = Simulation(world)
    (pod,) = world.pods_on("n0")
    again = simulation.replace(pod, "lost")
    assert again.pod.shape.labels.labels == {"app": "app"} and pod.shape.labels.labels[ZONE] == "z0"


def test_undo_leaves_no_trace() -> None:
    pods = [running("low", "n0", "4"), running("other", "n1", "1")]
    world = cluster([node("n0"), node("n1")], [*pods, pending("high", "4", priority=9)])
    before, on = world.use(), {name: [pod.key for pod in world.pods_on(name)] for name in world.nodes()}
    for _ in range(2):
        simulation = Simulation(world)
        simulation.set_node(world.node_reader.read(node("n2")))
        first = world.snapshot.node("n1")
        assert first is not None
        simulation.set_node(first._replace(unschedulable=True))
        simulation.enqueue_waiting()
        simulation.run()
        assert world.use() != before
        simulation.undo()
        assert world.use() == before
        assert {name: [pod.key for pod in world.pods_on(name)] for name in world.nodes()} == on
        assert world.snapshot.node("n1") == first
        assert not world.waiting[0].nominated and not list(world.handle.nominations.on("n0"))


def test_the_same_question_gets_the_same_answer() -> None:
    def once() -> dict[str, str]:
        return places(
            simulate(cluster([node(f"n{n}") for n in range(9)], [pending(f"p{n}") for n in range(30)]))
        )

    assert once() == once()
