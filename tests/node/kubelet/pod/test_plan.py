"""What the kubelet decides to do, by tables of what it sees."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.node.kubelet.cri.pod_runtime import ContainerRun, ContainerState, PodRuntime, PodSandbox
from pybernetes.node.kubelet.pod.plan import Probed, plan

READY = (PodSandbox("s", ready=True),)
LOST = (PodSandbox("s", ready=False),)


def pod(
    *containers: str, policy: str = "Always", inits: tuple[str, ...] = (), **fields: Any
) -> dict[str, Any]:
    """Return a pod; an init container whose name begins with "side" is a sidecar."""
    made = [
        {"name": name, **({"restartPolicy": "Always"} if name.startswith("side") else {})} for name in inits
    ]
    spec = {"restartPolicy": policy, "containers": [{"name": name, **fields} for name in containers]}
    return {"spec": {**spec, **({"initContainers": made} if made else {})}}


def run(
    name: str, state: ContainerState = ContainerState.RUNNING, code: int = 0, attempt: int = 0, **more: Any
) -> ContainerRun:
    return ContainerRun(
        f"{name}-{attempt}", name, state, sandbox="s", exit_code=code, attempt=attempt, **more
    )


def done(name: str, code: int = 0, attempt: int = 0) -> ContainerRun:
    return run(name, ContainerState.EXITED, code, attempt)


def decide(
    what: dict[str, Any], sandboxes: tuple[PodSandbox, ...], *runs: ContainerRun, probed: Probed | None = None
) -> str:
    """Return the actions in short: S for a new sandbox, K for killing the pod, -name for a kill, +name for a start."""
    actions = plan(what, PodRuntime("uid", sandboxes, runs), probed or Probed())
    parts = (
        ["K"] * actions.kill_pod
        + [f"-{kill.run.name}" for kill in actions.kill]
        + ["S"] * actions.create_sandbox
    )
    return " ".join(parts + [f"+{start.container['name']}:{start.attempt}" for start in actions.start])


@pytest.mark.parametrize(
    ("what", "sandboxes", "runs", "expected"),
    [
        (pod("a", "b"), (), (), "S +a:0 +b:0"),
        (pod("a", "b"), READY, (), "+a:0 +b:0"),
        (pod("a", "b"), READY, (run("a"),), "+b:0"),
        (pod("a"), READY, (run("a"),), ""),
        (pod("a"), READY, (done("a", 1),), "+a:1"),
        (pod("a"), READY, (done("a"),), "+a:1"),
        (pod("a", policy="OnFailure"), READY, (done("a", 1),), "+a:1"),
        (pod("a", policy="OnFailure"), READY, (done("a"),), "K"),
        (pod("a", policy="Never"), READY, (done("a", 1),), "K"),
        (pod("a", "b", policy="Never"), READY, (done("a"), run("b")), ""),
        (pod("a"), READY, (run("a", ContainerState.UNKNOWN),), "-a +a:1"),
        (pod("a"), LOST, (done("a"),), "K S +a:1"),
        (pod("a", policy="Never"), LOST, (done("a"),), "K"),
        (pod("a", policy="Never"), LOST, (), "K S +a:0"),
        (pod("a", policy="OnFailure"), LOST, (done("a"),), "K"),
        # Init containers, one after another.
        (pod("a", inits=("i", "j")), (), (), "S +i:0"),
        (pod("a", inits=("i", "j")), READY, (), "+i:0"),
        (pod("a", inits=("i", "j")), READY, (run("i"),), ""),
        (pod("a", inits=("i", "j")), READY, (done("i"),), "+j:0"),
        (pod("a", inits=("i", "j")), READY, (done("j"),), "+a:0"),  # the first was removed long ago
        (pod("a", inits=("i",)), READY, (done("i"),), "+a:0"),
        (pod("a", inits=("i",)), READY, (done("i", 1),), "+i:1"),
        (pod("a", inits=("i",), policy="Never"), READY, (done("i", 1),), "K"),
        (pod("a", inits=("i",)), READY, (run("i", ContainerState.CREATED),), "+i:1"),
        (pod("a", inits=("i",)), READY, (run("a"),), ""),
        (pod("a", inits=("i",)), LOST, (done("i"), done("a")), "K S +i:1"),
        # Sidecars stay up, before and after the rest.
        (pod("a", inits=("side", "i")), READY, (run("side"),), "+i:0"),
        (pod("a", inits=("side", "i")), READY, (run("side"), done("i")), "+a:0"),
        (pod("a", inits=("side",)), READY, (run("side"),), "+a:0"),
        (pod("a", inits=("side",)), READY, (done("side"), run("a")), "+side:1"),
        (pod("a", inits=("side", "i")), READY, (done("side"), run("i")), "+side:1"),
        (pod("a", inits=("side",), policy="Never"), READY, (run("side"), done("a")), "K"),
    ],
)
def test_plan(
    what: dict[str, Any], sandboxes: tuple[PodSandbox, ...], runs: tuple[ContainerRun, ...], expected: str
) -> None:
    assert decide(what, sandboxes, *runs) == expected


def test_probes_end_runs() -> None:
    what = pod("a", livenessProbe={}, startupProbe={})
    assert decide(what, READY, run("a"), probed=Probed(liveness={"a-0": False})) == "-a +a:1"
    assert decide(what, READY, run("a"), probed=Probed(startup={"a-0": False})) == "-a +a:1"
    assert decide(what, READY, run("a"), probed=Probed(liveness={"a-0": True})) == ""
    never = pod("a", policy="Never", livenessProbe={})
    assert decide(never, READY, run("a"), probed=Probed(liveness={"a-0": False})) == "-a"


def test_a_sidecar_is_waited_for_until_its_startup_probe_succeeds() -> None:
    what = pod("a", inits=("side",))
    what["spec"]["initContainers"][0]["startupProbe"] = {}
    assert decide(what, READY, run("side")) == ""
    assert decide(what, READY, run("side"), probed=Probed(startup={"side-0": True})) == "+a:0"
    assert decide(what, READY, run("side"), probed=Probed(startup={"side-0": False})) == "-side +side:1"


def test_a_changed_definition_restarts_the_container() -> None:
    runtime = PodRuntime("uid", READY, (run("a", fingerprint="old"),))
    actions = plan(pod("a", policy="Never"), runtime, Probed(), {"a": "new"})
    assert [start.attempt for start in actions.start] == [1] and len(actions.kill) == 1


def test_ephemeral_containers_start_once() -> None:
    what = pod("a", inits=("i",))
    what["spec"]["ephemeralContainers"] = [{"name": "debug"}]
    assert decide(what, READY, run("i")) == "+debug:0"
    assert decide(what, READY, run("i"), done("debug", 1)) == ""


def test_a_rule_has_all_containers_begin_anew() -> None:
    rule = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}
    what = pod("a", "b", policy="Never", inits=("first",))
    what["spec"]["containers"][1] |= {"restartPolicy": "Never", "restartPolicyRules": [rule]}
    runs = (run("a"), done("first"), done("b", 42), done("a", 1, -1))
    actions = plan(what, PodRuntime("uid", READY, runs), Probed())
    assert [removed.id for removed in actions.reset] == [
        "a-0",
        "a--1",
        "first-0",
        "b-0",
    ]  # the cause goes last
    assert not actions.start and not actions.kill
    assert decide(what, READY, run("a"), done("first"), done("b", 41)) == ""
    assert decide(what, READY) == "+first:0"
