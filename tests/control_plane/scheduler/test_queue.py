"""The queue: order, backoff, gates, hints, holds. The clock stands still unless it is moved."""

from __future__ import annotations

from typing import Any

from pybernetes.control_plane.scheduler.queue import ACTIVE, BACKOFF, GATED, UNSCHEDULABLE, Queue, Queued
from pybernetes.scheduling.cluster_events import ASSIGNED_POD, NODE, TARGET_POD, Action, Event
from pybernetes.scheduling.pods import Pod
from tests.scheduling.builders import node, pod
from tests.scheduling.ours import Ours


class World:
    """A queue with the default plugins and a clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.ours = Ours()
        plugins = {"default-scheduler": self.ours.profile.plugins.values()}
        self.queue = Queue(lambda: self.now, plugins, self.ours.profile.queue_sort.sort_key)
        self.woken = 0
        self.queue.wake = self.wake

    def wake(self) -> None:
        self.woken += 1

    def pod(
        self, name: str, *, gates: tuple[str, ...] = (), labels: dict[str, str] | None = None, **spec: Any
    ) -> Pod:
        obj = pod(name, labels=labels, **spec)
        obj["metadata"]["uid"] = name
        if gates:
            obj["spec"]["schedulingGates"] = [{"name": gate} for gate in gates]
        return self.ours.pods.read(obj)

    def add(self, name: str, **options: Any) -> None:
        self.queue.add(self.pod(name, **options))

    def pop(self) -> Queued:
        queued = self.queue.pop()
        assert queued is not None
        return queued

    def popped(self) -> list[str]:
        names = []
        while (queued := self.queue.pop()) is not None:
            names.append(queued.pod.name)
        return names

    def queue_of(self, name: str) -> str:
        queued = self.queue.get(name)
        return "" if queued is None else queued.queue

    def fail(self, *plugins: str) -> None:
        self.queue.failed(self.pop(), plugins)

    def node_event(self, cpu: str = "4", action: int = Action.ADD) -> Event:
        return Event(NODE, action, None, self.ours.nodes.read(node("n", cpu=cpu)))


def test_priority_then_age() -> None:
    world = World()
    for name, priority in (("a", 0), ("b", 10), ("c", 0), ("d", 10)):
        world.now += 1
        world.add(name, priority=priority)
    assert world.popped() == ["b", "d", "a", "c"]
    assert world.woken == 4


def test_a_failed_pod_waits_for_an_event_that_can_help() -> None:
    world = World()
    world.add("a", cpu="3")
    world.fail("NodeResourcesFit")
    assert world.queue_of("a") == UNSCHEDULABLE
    world.queue.move(world.node_event(cpu="2"))  # too small
    world.queue.move(Event(NODE, Action.UPDATE_NODE_TAINT, None, None))  # not this plugin's business
    assert world.queue_of("a") == UNSCHEDULABLE
    world.queue.move(world.node_event(cpu="4"))
    assert world.queue_of("a") == BACKOFF


def test_hints_are_asked_once_for_pods_of_one_shape() -> None:
    world = World()
    asked: list[Any] = []
    fit: Any = world.ours.profile.plugins["NodeResourcesFit"]
    original = fit._after_node

    def after_node(*given: Any) -> bool:
        asked.append(given)
        return original(*given)

    fit._after_node = after_node
    profile = world.ours.profile
    world.queue = Queue(
        lambda: world.now, {"default-scheduler": profile.plugins.values()}, profile.queue_sort.sort_key
    )
    for number in range(50):
        world.add(f"p{number}")
    for _ in range(50):
        world.fail("NodeResourcesFit")
    world.queue.move(world.node_event())
    assert len(asked) == 1 and world.queue.counts[BACKOFF] == 50


def test_backoff_doubles_up_to_a_limit() -> None:
    world = World()
    world.add("a")
    seconds = []
    for _ in range(6):
        queued = world.pop()
        world.queue.failed(queued, ["NodeResourcesFit"])
        seconds.append(queued.until - world.now)
        world.now += 20
        world.queue.move(world.node_event())
    assert seconds == [1, 2, 4, 8, 10, 10]


def test_what_has_backed_off_comes_early_only_if_nothing_else_is_to_do() -> None:
    world = World()
    world.add("a")
    world.fail("NodeResourcesFit")
    world.queue.move(world.node_event())
    assert world.queue_of("a") == BACKOFF
    world.add("b")
    assert world.popped() == ["b", "a"]


def test_after_an_error_a_pod_waits_in_full() -> None:
    world = World()
    world.add("a")
    world.queue.erred(world.pop())
    assert world.popped() == [] and world.queue.next_flush() == 1002.0
    world.now += 2
    assert world.popped() == ["a"]


def test_gates() -> None:
    world = World()
    world.add("a", gates=("one", "two"))
    assert world.queue_of("a") == GATED and world.popped() == []
    world.queue.update(world.pod("a", gates=("two",)))
    assert world.queue_of("a") == GATED
    world.queue.update(world.pod("a"))
    assert world.queue_of("a") == ACTIVE and world.popped() == ["a"]


def test_a_change_of_the_pod_itself_can_help() -> None:
    world = World()
    world.add("a")
    world.fail("TaintToleration")
    world.queue.update(world.pod("a", labels={"x": "y"}))
    assert world.queue_of("a") == UNSCHEDULABLE
    world.queue.update(world.pod("a", tolerations=[{"operator": "Exists"}]))
    assert world.queue_of("a") == BACKOFF


def test_pods_do_not_wait_for_ever() -> None:
    world = World()
    world.add("a")
    world.fail("NodeAffinity")
    assert world.queue.next_flush() == 1301.0
    world.now += 200
    assert world.popped() == []
    world.now += 101
    assert world.popped() == ["a"]


def test_without_nodes_a_pod_waits_for_one() -> None:
    world = World()
    world.add("a")
    world.fail()
    world.queue.move(Event(ASSIGNED_POD, Action.DELETE, world.pod("other")))
    assert world.queue_of("a") == UNSCHEDULABLE
    world.queue.move(world.node_event())
    assert world.queue_of("a") == BACKOFF


def test_a_pod_that_room_is_made_for_is_held() -> None:
    world = World()
    world.add("a")
    world.fail("NodeResourcesFit")
    world.queue.hold("a")
    world.queue.move(Event(ASSIGNED_POD, Action.DELETE, world.pod("victim")))
    assert world.queue_of("a") == UNSCHEDULABLE
    world.queue.release("a", failed=False)
    assert world.queue_of("a") == ACTIVE
    world.fail("NodeResourcesFit")
    world.queue.hold("a")
    world.queue.release("a", failed=False)
    assert world.queue_of("a") == UNSCHEDULABLE
    world.queue.hold("a")
    world.queue.release("a", failed=True)
    assert world.queue_of("a") == ACTIVE


def test_deleted_pods_are_gone_wherever_they_were() -> None:
    world = World()
    world.add("waiting")
    world.fail("NodePorts")
    world.add("popped")
    popped = world.pop()
    world.add("active")
    for name in ("active", "waiting", "popped"):
        world.queue.delete(name)
    world.queue.failed(popped, ["NodePorts"])
    assert len(world.queue) == 0 and world.popped() == []
    assert set(world.queue.counts.values()) == {0}


def test_counts_add_up() -> None:
    world = World()
    for number in range(4):
        world.add(f"p{number}", gates=("g",) if number == 3 else ())
    world.fail("NodePorts")
    assert world.queue.counts == {ACTIVE: 2, BACKOFF: 0, UNSCHEDULABLE: 1, GATED: 1}
    assert world.queue.refused() == {("NodePorts", "default-scheduler"): 1}
    assert world.queue.incoming["UnscheduledPodAdd", "active"] == 3
    assert world.queue.incoming["ScheduleAttemptFailure", "unschedulable"] == 1


def test_events_have_upstreams_names() -> None:
    assert Event(ASSIGNED_POD, Action.DELETE).label == "AssignedPodDelete"
    assert Event(NODE, Action.UPDATE_NODE_TAINT).label == "NodeUpdateNodeTaint"
    assert Event(TARGET_POD, Action.UPDATE_OTHER).label == "TargetPodUpdate"
