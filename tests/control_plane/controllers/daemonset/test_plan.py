"""The decisions of the DaemonSet controller."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.daemonset.plan import Plan, PlanInputs, fitness, plan, status_of
from pybernetes.control_plane.controllers.daemonset.template import pod_for
from tests.control_plane.controllers.builders import NOW, pod
from tests.control_plane.controllers.daemonset.daemon_sets import NEW, OLD, daemon_set

NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}
DEDICATED = {"key": "dedicated", "value": "x", "effect": "NoSchedule"}
EVICTS = {"key": "dedicated", "value": "x", "effect": "NoExecute"}


def node(name: str, *taints: Object, **labels: str) -> Object:
    return {"metadata": {"name": name, "labels": labels}, "spec": {"taints": list(taints)} if taints else {}}


def daemon(name: str, on: str, hash_: str = NEW, **more: Any) -> Object:
    more.setdefault("ready", True)
    return pod(name, node=on, labels={"app": "web", "controller-revision-hash": hash_}, **more)


def seen(given: Object, nodes: list[Object], pods: list[Object], held: float = 0.0) -> PlanInputs:
    return PlanInputs(given, nodes, pods, NEW, NOW, lambda _: held)


def deleted(result: Plan) -> list[str]:
    return [obj["metadata"]["name"] for obj in result.delete]


N1, N2, N3 = node("n1"), node("n2"), node("n3")
CASES: list[tuple[str, Object, list[Object], list[Object], list[str], list[str]]] = [
    ("everywhere", daemon_set(), [N1, N2], [], ["n1", "n2"], []),
    ("where there is none", daemon_set(), [N1, N2], [daemon("a", "n1")], ["n2"], []),
    ("one of two goes", daemon_set(), [N1], [daemon("a", "n1", ago=50), daemon("b", "n1", ago=10)], [], ["b"]),
    ("an assigned one stays", daemon_set(), [N1],
     [daemon("a", "n1", ago=5), daemon("b", "", spec=pod_for(daemon_set(), "n1", NEW, {})["spec"])], [], ["b"]),
    ("not where it may not", daemon_set(), [node("n1", DEDICATED)], [], [], []),
    ("but where it is already", daemon_set(), [node("n1", DEDICATED)], [daemon("a", "n1")], [], []),
    ("unless it must leave", daemon_set(), [node("n1", EVICTS)], [daemon("a", "n1")], [], ["a"]),
    ("also on nodes in trouble", daemon_set(), [node("n1", NOT_READY)], [], ["n1"], []),
    ("on chosen nodes", daemon_set(pod={"nodeSelector": {"disk": "ssd"}}), [N1, node("n2", disk="ssd")], [], ["n2"], []),
    ("off other nodes", daemon_set(pod={"nodeSelector": {"disk": "ssd"}}), [N1], [daemon("a", "n1")], [], ["a"]),
    ("on one node", daemon_set(pod={"nodeName": "n2"}), [N1, N2], [], ["n2"], []),
    ("failed ones are replaced", daemon_set(), [N1], [daemon("a", "n1", phase="Failed")], [], ["a"]),
    ("ended ones are replaced", daemon_set(), [N1], [daemon("a", "n1", phase="Succeeded")], [], ["a"]),
    ("one that goes is waited for", daemon_set(), [N1], [daemon("a", "n1", deleted=True)], [], []),
    ("unless it has ended", daemon_set(), [N1], [daemon("a", "n1", phase="Failed", deleted=True)], ["n1"], []),
    ("for a node that is gone", daemon_set(), [],
     [daemon("a", "", spec=pod_for(daemon_set(), "n1", NEW, {})["spec"])], [], ["a"]),
    ("an update, one at a time", daemon_set(), [N1, N2], [daemon("a", "n1", OLD), daemon("b", "n2", OLD)], [], ["a"]),
    ("while one is missing", daemon_set(), [N1, N2], [daemon("a", "n1", ready=False), daemon("b", "n2", OLD)], [], []),
    ("sick ones for free", daemon_set(), [N1, N2], [daemon("a", "n1", OLD, ready=False), daemon("b", "n2", OLD)], [], ["a"]),
    ("several at once", daemon_set(0, "60%"), [N1, N2, N3], [daemon(n, n, OLD) for n in ("n1", "n2", "n3")], [],
     ["n1", "n2"]),
    ("never on its own", daemon_set(strategy="OnDelete"), [N1], [daemon("a", "n1", OLD)], [], []),
    ("a new one beside the old", daemon_set(1, 0), [N1, N2], [daemon("a", "n1", OLD), daemon("b", "n2", OLD)], ["n1"], []),
    ("the old one goes when the new one is ready", daemon_set(1, 0), [N1],
     [daemon("a", "n1", OLD), daemon("b", "n1")], [], ["a"]),
    ("not before", daemon_set(1, 0), [N1, N2],
     [daemon("a", "n1", OLD), daemon("b", "n1", ready=False), daemon("c", "n2", OLD)], [], []),
    ("a sick old one goes at once", daemon_set(1, 0), [N1],
     [daemon("a", "n1", OLD, ready=False), daemon("b", "n1", ready=False)], [], ["a"]),
    ("and needs no room", daemon_set(1, 0), [N1, N2],
     [daemon("a", "n1", OLD, ready=False), daemon("b", "n2", OLD)], ["n1", "n2"], []),
    ("of an old template's number", daemon_set(), [N1],
     [pod("a", ready=True, labels={"app": "web", "pod-template-generation": "4"})], [], []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "nodes", "pods", "create", "delete"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_plan(
    given: Object, nodes: list[Object], pods: list[Object], create: list[str], delete: list[str]
) -> None:
    result = plan(seen(given, nodes, pods))
    assert (result.create, deleted(result)) == (create, delete)


def test_failed_pods_are_left_alone_for_a_while() -> None:
    failed = [daemon("a", "n1", phase="Failed")]
    result = plan(seen(daemon_set(), [N1], failed, held=4.0))
    assert (result.delete, result.again) == ([], 4.0)
    result = plan(seen(daemon_set(), [N1], failed))
    assert result.failed == ["n1"]
    assert result.events[0][1:] == (
        "FailedDaemonPod",
        "Found failed daemon pod default/a on node n1, will try to kill it",
    )


def test_fitness_tells_running_from_staying() -> None:
    fit = fitness(daemon_set())
    assert fit(N1) == (True, True)
    assert fit(node("n", DEDICATED)) == (False, True)
    assert fit(node("n", EVICTS)) == (False, False)


def test_status() -> None:
    nodes = [N1, N2, N3, node("n4", DEDICATED)]
    pods = [
        daemon("a", "n1"),
        daemon("b", "n2", OLD),
        daemon("c", "n4"),
        daemon("d", "n1", OLD, ago=1),
    ]
    assert status_of(seen(daemon_set(), nodes, pods)) == {
        "currentNumberScheduled": 2, "numberMisscheduled": 1, "desiredNumberScheduled": 3, "numberReady": 2,
        "observedGeneration": 1, "updatedNumberScheduled": 1, "numberAvailable": 2, "numberUnavailable": 1,
    }  # fmt: skip
