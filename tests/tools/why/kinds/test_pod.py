"""Why a pod is as it is."""

from typing import Any

import pytest

from pybernetes.client.refs import CONFIG_MAPS, NODES, PERSISTENT_VOLUME_CLAIMS, SECRETS
from pybernetes.scheduling.explanation import Explanation, Scored, Verdict
from pybernetes.tools.why.kinds.pod import WHY
from tests.tools.why.worlds import causes, is_true, obj, world

READY_NODE = obj("n1", status={"conditions": [is_true("Ready")]})


def container(**state: Any) -> dict[str, Any]:
    return {"name": "main", "ready": False, "restartCount": 0, **state}


def waiting(reason: str, message: str = "", **more: Any) -> dict[str, Any]:
    return {
        "containerStatuses": [container(state={"waiting": {"reason": reason, "message": message}}, **more)]
    }


OVER = {"terminated": {"exitCode": 1, "reason": "Error", "message": "no such table"}}
KILLED = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
RUNNING = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
PROBED = {"containers": [{"name": "main", "readinessProbe": {}}]}


@pytest.mark.parametrize(
    ("spec", "status", "events", "state", "expected"),
    [
        ({"schedulingGates": [{"name": "example.com/quota"}]}, {}, {}, "Pending, without a node", ["scheduling gate example.com/quota"]),
        ({}, {"conditions": [is_true("PodScheduled", "False", message="0/3 nodes are available")]}, {}, "Pending, without a node", ["found no node"]),
        ({"schedulerName": "mine"}, {}, {}, "Pending, without a node", ["it asks for mine"]),
        ({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "none"}}]}, {}, {"FailedScheduling": "x"}, "Pending, without a node", ["claim none does not exist", "found no node"]),
        ({"nodeName": "n1"}, waiting("ImagePullBackOff", "not found"), {}, "Pending on n1", ["image cannot be pulled (ImagePullBackOff)"]),
        ({"nodeName": "n1"}, waiting("CreateContainerConfigError", "no secret"), {}, "Pending on n1", ["refers to is missing"]),
        ({"nodeName": "n1"}, waiting("ContainerCreating"), {"FailedMount": "timed out"}, "Pending on n1", ["cannot prepare it"]),
        ({"nodeName": "n1"}, waiting("ContainerCreating"), {"Pulling": 'Pulling image "nginx"'}, "Pending on n1", []),
        ({"nodeName": "n2"}, {}, {}, "Pending on n2", ["node n2 does not exist"]),
        ({"nodeName": "n1", "containers": [{"name": "main", "envFrom": [{"secretRef": {"name": "none"}}]}]}, {}, {}, "Pending on n1", ["Secret none"]),
        ({"nodeName": "n1"}, {"phase": "Running", **waiting("CrashLoopBackOff", lastState=OVER)}, {}, "Running, not ready", ["ended again and again"]),
        ({"nodeName": "n1"}, {"phase": "Running", "conditions": [is_true("Ready")], "containerStatuses": [container(state=RUNNING, lastState=KILLED, restartCount=3)]}, {}, "Running, ready", ["restarted 3 times; the last time it had ended with code 137: out of memory"]),
        ({"nodeName": "n1", **PROBED}, {"phase": "Running", "containerStatuses": [container(state=RUNNING)]}, {"Unhealthy": "Readiness probe failed: 503"}, "Running, not ready", ["its probe does not succeed"]),
        ({"nodeName": "n1", "readinessGates": [{"conditionType": "example.com/door"}]}, {"phase": "Running"}, {}, "Running, not ready", ["gate example.com/door"]),
        ({"nodeName": "n1"}, {"phase": "Running", "conditions": [is_true("Ready")]}, {}, "Running, ready", []),
        ({"nodeName": "n1"}, {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}, {}, "Failed", ["node evicted it"]),
        ({"nodeName": "n1"}, {"phase": "Failed", "reason": "OutOfcpu"}, {}, "Failed", ["no room for it: cpu"]),
        ({"nodeName": "n1"}, {"phase": "Failed", "conditions": [is_true("DisruptionTarget", reason="PreemptionByScheduler")]}, {}, "Failed", ["make room for a pod of higher priority"]),
        ({"nodeName": "n1"}, {"phase": "Failed", "conditions": [is_true("DisruptionTarget", reason="DeletionByTaintManager")]}, {}, "Failed", ["does not tolerate"]),
        ({"nodeName": "n1"}, {"phase": "Failed", "containerStatuses": [container(state={"terminated": {"exitCode": 127}})]}, {}, "Failed", ["code 127: its command was not found"]),
    ],
)  # fmt: skip
def test_why(spec: Any, status: Any, events: dict[str, str], state: str, expected: list[str]) -> None:
    around = world((NODES, [READY_NODE]), (PERSISTENT_VOLUME_CLAIMS, []), (SECRETS, []), (CONFIG_MAPS, []), events=events)  # fmt: skip
    found_state, findings = WHY.decide(obj("web", spec=spec, status=status), around)
    assert found_state == state
    titles = causes(findings)
    assert len(titles) == len(expected), titles
    for title, words in zip(titles, expected, strict=True):
        assert words in title


def test_what_containers_said_and_probes_are_told() -> None:
    crashing = obj("web", spec={"nodeName": "n1"}, status={"phase": "Running", **waiting("CrashLoopBackOff", lastState=OVER)})  # fmt: skip
    around = world((NODES, [READY_NODE]), events={"Unhealthy": "Liveness probe failed: refused"})
    (first, *_) = WHY.decide(crashing, around)[1]
    assert "The last time it ended with code 1." in first.details
    assert "It said: no such table" in first.details
    assert "Liveness probe failed: refused" in first.details
    assert first.command == "kubectl logs web -n shop -c main --previous"


def test_the_verdict_on_every_node_is_grouped() -> None:
    around = world(events={"FailedScheduling": "0/3 nodes are available"})
    around.nodes = 3
    around.explanation = Explanation(
        "",
        (Verdict("NodeResourcesFit", "Insufficient cpu", ("n1", "n2")), Verdict("TaintToleration", "tainted", ("n3",))),
        0, (), (),
    )  # fmt: skip
    ((finding),) = WHY.decide(obj("web"), around)[1]
    assert finding.title == "None of the 3 nodes will do."
    assert finding.details[0] == "2 of 3 nodes: Insufficient cpu (NodeResourcesFit): n1, n2"
    assert [(group.plugin, group.nodes) for group in finding.nodes] == [
        ("NodeResourcesFit", ("n1", "n2")),
        ("TaintToleration", ("n3",)),
    ]
    assert {link.name for link in finding.links} == {"n1", "n2", "n3"}
    around.explanation = Explanation("", (), 2, ("n1", "n2"), (Scored("n1", 1, {}),))
    (finding,) = WHY.decide(obj("web"), around)[1]
    assert not finding.cause and "2 of 3 nodes would do now" in finding.title
    around.explanation = Explanation("VolumeBinding: no such claim", (), 0, (), ())
    assert "no node at all" in WHY.decide(obj("web"), around)[1][0].title
    around.explanation, around.nodes = Explanation("", (), 0, (), ()), 0
    assert WHY.decide(obj("web"), around)[1][0].title == "There are no nodes."


@pytest.mark.parametrize(
    ("meta", "nodes", "expected"),
    [
        ({"finalizers": ["example.com/keep"]}, [READY_NODE], "finalizer example.com/keep"),
        ({}, [], "its node n1 is gone"),
        ({}, [obj("n1", status={"conditions": [is_true("Ready", "Unknown")]})], "its node n1 is not ready"),
        ({}, [READY_NODE], "are being stopped"),
    ],
)
def test_a_deleted_pod_that_stays(meta: Any, nodes: Any, expected: str) -> None:
    pod = obj("web", spec={"nodeName": "n1"}, deletionTimestamp="2026-01-01T00:00:00Z", **meta)
    state, findings = WHY.decide(pod, world((NODES, nodes)))
    assert state == "Terminating"
    assert expected in findings[0].title


def test_of_secrets_only_the_metadata_is_read() -> None:
    spec = {
        "containers": [
            {
                "name": "main",
                "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s1", "key": "k"}}}],
            },
            {"name": "more", "envFrom": [{"configMapRef": {"name": "c1", "optional": True}}]},
        ],
        "volumes": [
            {"name": "a", "secret": {"secretName": "s2"}},
            {"name": "b", "projected": {"sources": [{"configMap": {"name": "c2"}}]}},
        ],
    }
    needs = [need for need in WHY.needs(obj("web", spec=spec)) if need.ref in (SECRETS, CONFIG_MAPS)]
    assert [(need.name, need.metadata_only) for need in needs] == [("s1", True), ("s2", True), ("c2", True)]


def test_what_may_not_be_read_is_no_reason() -> None:
    """Nobody may conclude from what he cannot see that it is not there."""
    around = world()
    around.refused = {SECRETS: "forbidden", NODES: "forbidden", PERSISTENT_VOLUME_CLAIMS: "forbidden"}
    spec = {"nodeName": "n1", "volumes": [{"name": "a", "secret": {"secretName": "s"}}, {"name": "b", "persistentVolumeClaim": {"claimName": "c"}}]}  # fmt: skip
    assert causes(WHY.decide(obj("web", spec=spec), around)[1]) == []
