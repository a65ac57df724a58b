"""What pods are reported to be: tables of what the runtime has and what follows."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.node.kubelet.cri.pod_runtime import ContainerRun, ContainerState, PodRuntime, PodSandbox
from pybernetes.node.kubelet.status.pod_status import pod_status
from pybernetes.node.kubelet.status.status_inputs import StatusInputs

UID = "u1"
READY = PodSandbox("s1", True, 1.0, 0, ("10.0.0.5",))


def pod(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    listed = [{"image": "i", **container} for container in containers] or [{"name": "c", "image": "i"}]
    return {
        "metadata": {"name": "p", "namespace": "n", "uid": UID, "generation": 2},
        "spec": {"restartPolicy": "Always", "containers": listed, **spec},
        "status": {"qosClass": "BestEffort", "phase": "Pending"},
    }


def run(
    name: str = "c",
    state: ContainerState = ContainerState.RUNNING,
    code: int = 0,
    attempt: int = 0,
    **more: Any,
) -> ContainerRun:
    finished = 20.0 if state is ContainerState.EXITED else 0.0
    values = {"created": 10.0 + attempt, "started": 10.0, "finished": finished, **more}
    return ContainerRun(f"{name}{attempt}", name, state, "s1", attempt, exit_code=code, **values)


def report(
    definition: dict[str, Any],
    *runs: ContainerRun,
    sandbox: PodSandbox | None = READY,
    previous: Any = None,
    **inputs: Any,
) -> dict[str, Any]:
    runtime = PodRuntime(UID, (sandbox,) if sandbox else (), runs)
    return pod_status(
        definition, runtime, previous or {}, StatusInputs(now=100.0, host=("10.1.1.1",), **inputs)
    )


def conditions(status: dict[str, Any]) -> dict[str, str]:
    return {condition["type"]: condition["status"] for condition in status["conditions"]}


@pytest.mark.parametrize(
    ("policy", "runs", "ended", "phase"),
    [
        ("Always", [], False, "Pending"),
        ("Always", [run()], False, "Running"),
        ("Always", [run(state=ContainerState.CREATED)], False, "Pending"),
        ("Always", [run(state=ContainerState.EXITED, code=1)], False, "Running"),
        ("Always", [run(state=ContainerState.EXITED)], False, "Running"),
        ("Always", [run(state=ContainerState.EXITED)], True, "Succeeded"),
        ("Always", [run(state=ContainerState.EXITED, code=2)], True, "Failed"),
        ("OnFailure", [run(state=ContainerState.EXITED)], False, "Succeeded"),
        ("OnFailure", [run(state=ContainerState.EXITED, code=1)], False, "Running"),
        ("Never", [run(state=ContainerState.EXITED)], False, "Succeeded"),
        ("Never", [run(state=ContainerState.EXITED, code=1)], False, "Failed"),
    ],
)
def test_phase_of_one_container(policy: str, runs: list[ContainerRun], ended: bool, phase: str) -> None:
    assert report(pod(restartPolicy=policy), *runs, ended=ended)["phase"] == phase


@pytest.mark.parametrize(
    ("inits", "runs", "phase", "initialized"),
    [
        ([{"name": "i"}], [], "Pending", "False"),
        ([{"name": "i"}], [run("i")], "Pending", "False"),
        ([{"name": "i"}], [run("i", ContainerState.EXITED), run()], "Running", "True"),
        ([{"name": "i"}], [run("i", ContainerState.EXITED, 1)], "Failed", "False"),
        ([{"name": "i", "restartPolicy": "Always"}], [run("i")], "Pending", "True"),
        ([{"name": "i", "restartPolicy": "Always"}], [run("i"), run()], "Running", "True"),
        ([{"name": "i", "restartPolicy": "Always"}], [run("i", ContainerState.EXITED, 9), run(state=ContainerState.EXITED)], "Succeeded", "True"),
    ],
)  # fmt: skip
def test_init_containers(inits: list[Any], runs: list[ContainerRun], phase: str, initialized: str) -> None:
    definition = pod(
        restartPolicy="Never", initContainers=[{"image": "i", **container} for container in inits]
    )
    status = report(definition, *runs)
    assert (status["phase"], conditions(status)["Initialized"]) == (phase, initialized)


@pytest.mark.parametrize(
    ("container", "inputs", "started", "ready"),
    [
        ({}, {}, True, True),
        ({"readinessProbe": {}}, {}, True, False),
        ({"readinessProbe": {}}, {"ready": {"c0": True}}, True, True),
        ({"startupProbe": {}}, {}, False, False),
        ({"startupProbe": {}}, {"started": {"c0": True}}, True, True),
        ({"startupProbe": {}, "readinessProbe": {}}, {"ready": {"c0": True}}, False, False),
    ],
)
def test_probes_decide_readiness(container: Any, inputs: Any, started: bool, ready: bool) -> None:
    status = report(pod({"name": "c", **container}), run(), **inputs)
    reported = status["containerStatuses"][0]
    assert (reported["started"], reported["ready"]) == (started, ready)
    assert conditions(status)["Ready"] == ("True" if ready else "False")


def test_a_crashed_container_waits_and_remembers() -> None:
    waiting = {"c": ("CrashLoopBackOff", "back-off 10s")}
    runs = (run(state=ContainerState.EXITED, code=3, attempt=1), run(state=ContainerState.EXITED, code=2))
    reported = report(pod(), *runs, waiting=waiting)["containerStatuses"][0]
    assert reported["state"] == {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}}
    assert reported["lastState"]["terminated"]["exitCode"] == 3
    assert reported["restartCount"] == 1


def test_what_the_runtime_lost_is_remembered() -> None:
    first = report(pod(), run())
    gone = report(pod(), previous=first)["containerStatuses"][0]
    assert gone["lastState"]["terminated"]["reason"] == "ContainerStatusUnknown"
    assert gone["restartCount"] == 1


def test_resources_are_shown_from_the_first_run_on() -> None:
    asked = {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}
    definition = pod({"name": "c"}, {"name": "d", "resources": asked}, {"name": "e", "resources": asked})
    shown = report(definition, run(), run("d"), in_force={"d": {"requests": {"cpu": "3"}}})[
        "containerStatuses"
    ]
    assert "allocatedResources" not in shown[0] and shown[0]["resources"] == {}
    assert (shown[1]["resources"], shown[1]["allocatedResources"]) == (
        {"requests": {"cpu": "3"}},
        {"cpu": "1"},
    )
    assert not {"resources", "allocatedResources"} & shown[2].keys()


def test_a_phase_that_has_ended_stays() -> None:
    ended = report(pod(restartPolicy="Never"), run(state=ContainerState.EXITED, code=1))
    assert report(pod(restartPolicy="Never"), run(), previous=ended)["phase"] == "Failed"


def test_verdicts_win() -> None:
    status = report(pod(), run(), verdict=("Evicted", "no memory"))
    assert (status["phase"], status["reason"], status["message"]) == ("Failed", "Evicted", "no memory")
    assert conditions(status)["Ready"] == "False"


def test_readiness_gates_and_foreign_conditions() -> None:
    definition = pod(readinessGates=[{"conditionType": "lb"}])
    status = report(definition, run())
    ready = next(condition for condition in status["conditions"] if condition["type"] == "Ready")
    assert ready["reason"] == "ReadinessGatesNotReady"
    definition["status"]["conditions"] = [{"type": "lb", "status": "True"}]
    status = report(definition, run())
    assert conditions(status) == {
        "lb": "True", "PodReadyToStartContainers": "True", "Initialized": "True", "Ready": "True",
        "ContainersReady": "True", "PodScheduled": "True",
    }  # fmt: skip


def test_times_of_conditions_change_only_with_them() -> None:
    first = report(pod(), run())
    later = pod_status(pod(), PodRuntime(UID, (READY,), (run(),)), first, StatusInputs(now=500.0))
    assert {condition["lastTransitionTime"] for condition in later["conditions"]} == {"1970-01-01T00:01:40Z"}
    assert later["startTime"] == first["startTime"]


def test_addresses() -> None:
    assert report(pod(), run())["podIPs"] == [{"ip": "10.0.0.5"}]
    assert report(pod(hostNetwork=True), run())["podIP"] == "10.1.1.1"
    assert "podIP" not in report(pod(), sandbox=None)


def test_a_pod_whose_containers_all_begin_anew() -> None:
    rule = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}
    definition = pod(
        {"name": "a"},
        {"name": "b", "restartPolicy": "Never", "restartPolicyRules": [rule]},
        restartPolicy="Never",
    )
    first = report(definition, run("a"), run("b"))
    assert conditions(first)["AllContainersRestarting"] == "False" and first["phase"] == "Running"
    under_way = report(definition, run("a"), run("b", ContainerState.EXITED, 42), previous=first)
    assert conditions(under_way)["AllContainersRestarting"] == "True" and under_way["phase"] == "Running"
    removed = report(definition, previous=under_way, restarting=True)
    assert conditions(removed)["AllContainersRestarting"] == "False"
    for container in removed["containerStatuses"]:
        assert (
            container["state"]["waiting"]["reason"] == "RestartingAllContainers"
            and container["restartCount"] == 1
        )
        assert container["lastState"]["terminated"]["exitCode"] == 137
    assert removed["phase"] in ("Pending", "Running")
    again = report(definition, run("a", attempt=1), run("b", attempt=1), previous=removed)
    assert again["phase"] == "Running" and again["containerStatuses"][0]["restartCount"] == 1
