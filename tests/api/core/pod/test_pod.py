"""Pod: what a create completes and sets, what updates may change, what a row shows."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from pybernetes.api import table
from pybernetes.api.core import podtemplate
from pybernetes.api.core.pod.pod import RESOURCE
from pybernetes.api.core.pod.prepare import prepare_ephemeral_containers, prepare_resize
from pybernetes.api.core.pod.validation.resize import validate_resize
from pybernetes.api.core.pod.validation.update import validate_ephemeral_containers_update
from pybernetes.api.field import Errors

Fields = dict[str, Any]
CONTAINER = {"name": "a", "image": "nginx:1"}
NOW = table.epoch("2026-01-01T01:00:00Z")


def make(metadata: Fields | None = None, **spec: Any) -> Fields:
    """A pod as it is stored after a create."""
    pod = {
        "metadata": {"name": "p", **(metadata or {})},
        "spec": copy.deepcopy({"containers": [CONTAINER], **spec}),
    }
    assert RESOURCE.default and RESOURCE.prepare_create
    RESOURCE.default(pod)
    RESOURCE.prepare_create(pod)
    return pod


def changed(pod: Fields, path: str, value: Any) -> Fields:
    """A copy with one field set; a part that is a number is an index, None removes the field."""
    result = copy.deepcopy(pod)
    *parts, last = (int(part) if part.isdigit() else part for part in path.split("."))
    holder: Any = result
    for part in parts:
        holder = holder[part] if isinstance(part, int) else holder.setdefault(part, {})
    if value is None:
        del holder[last]
    else:
        holder[last] = value
    return result


# -- create ------------------------------------------------------------------------------------------------


def test_defaults() -> None:
    pod = make(
        containers=[
            {
                "name": "a",
                "image": "nginx",
                "ports": [{"containerPort": 80}],
                "resources": {"limits": {"cpu": "1", "memory": "1u"}},
                "livenessProbe": {"httpGet": {"port": 80}},
                "env": [{"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
            }
        ],
        hostNetwork=True,
        volumes=[{"name": "v"}, {"name": "w", "secret": {"secretName": "s"}}],
        serviceAccount="old",
    )
    container = pod["spec"]["containers"][0]
    assert container["imagePullPolicy"] == "Always"
    assert container["ports"] == [{"containerPort": 80, "protocol": "TCP", "hostPort": 80}]
    assert container["resources"] == {
        "limits": {"cpu": "1", "memory": "1m"},
        "requests": {"cpu": "1", "memory": "1m"},
    }
    assert container["livenessProbe"] == {
        "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"},
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }
    assert container["env"][0]["valueFrom"]["fieldRef"]["apiVersion"] == "v1"
    assert pod["spec"]["volumes"] == [
        {"name": "v", "emptyDir": {}},
        {"name": "w", "secret": {"secretName": "s", "defaultMode": 420}},
    ]
    assert pod["spec"]["serviceAccountName"] == "old"
    assert pod["spec"]["enableServiceLinks"] is True
    assert pod["spec"]["terminationGracePeriodSeconds"] == 30


def test_a_template_gets_no_defaults_that_only_pods_have() -> None:
    obj = {"metadata": {}, "template": {"spec": {"hostNetwork": True, "containers": [
        {"name": "a", "image": "b", "ports": [{"containerPort": 1}], "resources": {"limits": {"cpu": "1"}}},
    ]}}}  # fmt: skip
    podtemplate.default(obj)
    spec: Fields = obj["template"]["spec"]  # type: ignore[assignment]
    assert "enableServiceLinks" not in spec
    assert spec["containers"][0]["ports"] == [{"containerPort": 1, "protocol": "TCP"}]
    assert spec["containers"][0]["resources"] == {"limits": {"cpu": "1"}}
    assert obj["template"]["metadata"] == {}


@pytest.mark.parametrize(
    ("spec", "quality"),
    [
        ({}, "BestEffort"),
        ({"containers": [{**CONTAINER, "resources": {"requests": {"cpu": "1"}}}]}, "Burstable"),
        ({"containers": [{**CONTAINER, "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}]}, "Guaranteed"),
        ({"containers": [{**CONTAINER, "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}, CONTAINER]},
         "Burstable"),
        ({"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}, "Guaranteed"),
    ],
)  # fmt: skip
def test_first_status(spec: Fields, quality: str) -> None:
    assert make(**spec)["status"] == {"phase": "Pending", "qosClass": quality}


def test_gated_pods_say_so() -> None:
    condition = make(schedulingGates=[{"name": "x"}])["status"]["conditions"][0]
    assert (condition["type"], condition["status"], condition["reason"]) == (
        "PodScheduled", "False", "SchedulingGated",
    )  # fmt: skip


def test_label_keys_are_folded_into_selectors() -> None:
    term = {
        "topologyKey": "k",
        "labelSelector": {},
        "matchLabelKeys": ["l"],
        "mismatchLabelKeys": ["m", "none"],
    }
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    pod = make({"labels": {"l": "1", "m": "2"}}, affinity={"podAffinity": {required: [term]}})
    assert pod["spec"]["affinity"]["podAffinity"][required][0]["labelSelector"]["matchExpressions"] == [
        {"key": "l", "operator": "In", "values": ["1"]},
        {"key": "m", "operator": "NotIn", "values": ["2"]},
    ]


def test_old_annotations_become_fields() -> None:
    key = "container.apparmor.security.beta.kubernetes.io/a"
    pod = make({"annotations": {key: "localhost/x", "pod.beta.kubernetes.io/init-containers": "[]"}})
    assert pod["metadata"]["annotations"] == {key: "localhost/x"}
    assert pod["spec"]["containers"][0]["securityContext"] == {
        "appArmorProfile": {"type": "Localhost", "localhostProfile": "x"}
    }


def test_fields_of_features_that_are_off_are_dropped() -> None:
    pod = make(
        containers=[{**CONTAINER, "lifecycle": {"stopSignal": "SIGTERM"},
                     "volumeMounts": [{"name": "v", "mountPath": "/v", "bindMountOptions": ["noexec"]}]}],
        volumes=[{"name": "v", "emptyDir": {"mode": 511}}],
        schedulingGroup={"podGroupName": "g"},
    )  # fmt: skip
    assert "lifecycle" not in pod["spec"]["containers"][0]
    assert pod["spec"]["containers"][0]["volumeMounts"] == [{"name": "v", "mountPath": "/v"}]
    assert pod["spec"]["volumes"] == [{"name": "v", "emptyDir": {}}]
    assert "schedulingGroup" not in pod["spec"]


# -- update ------------------------------------------------------------------------------------------------

OLD = make(
    initContainers=[{"name": "i", "image": "x"}],
    activeDeadlineSeconds=100,
    tolerations=[{"key": "k", "operator": "Exists", "tolerationSeconds": 1, "effect": "NoExecute"}],
)
GATED = make(schedulingGates=[{"name": "g"}], nodeSelector={"a": "b"})
FORBIDDEN = "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"


@pytest.mark.parametrize(
    ("old", "path", "value", "expected"),
    [
        (OLD, "spec.containers.0.image", "other", []),
        (OLD, "spec.initContainers.0.image", "other", []),
        (OLD, "spec.hostNetwork", False, []),
        (OLD, "spec.activeDeadlineSeconds", 50, []),
        (OLD, "spec.activeDeadlineSeconds", 200,
         ["spec.activeDeadlineSeconds: Invalid value: 200: must be less than or equal to previous value"]),
        (OLD, "spec.activeDeadlineSeconds", None,
         ["spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value"]),
        (OLD, "spec.tolerations", [*OLD["spec"]["tolerations"], {"key": "n", "operator": "Exists"}], []),
        (OLD, "spec.tolerations.0.tolerationSeconds", 5, []),
        (OLD, "spec.tolerations", [],
         ["spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"]),
        (OLD, "spec.schedulingGates", [{"name": "n"}],
         ["spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'n'"]),
        (OLD, "spec.containers", [],
         ["spec.containers: Forbidden: pod updates may not add or remove containers"]),
        (OLD, "spec.containers.0.command", ["x"], [FORBIDDEN]),
        (OLD, "spec.nodeName", "n", [FORBIDDEN]),
        (OLD, "metadata.annotations", {"kubernetes.io/config.mirror": "x"},
         ["metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod annotation"]),
        (GATED, "spec.schedulingGates", None, []),
        (GATED, "spec.nodeSelector", {"a": "b", "c": "d"}, []),
        (GATED, "spec.nodeSelector", {"a": "c"},
         ['spec.nodeSelector: Invalid value: {"a":"c"}: only additions to spec.nodeSelector are allowed '
          "(no mutations or deletions)"]),
        (GATED, "spec.affinity", {"nodeAffinity": {}}, []),
        (OLD, "spec.affinity", {"nodeAffinity": {}}, [FORBIDDEN]),
    ],
)  # fmt: skip
def test_update(old: Fields, path: str, value: Any, expected: list[str]) -> None:
    new = changed(old, path, value)
    assert RESOURCE.prepare_update and RESOURCE.validate_update
    RESOURCE.prepare_update(new, old)
    errors = Errors()
    RESOURCE.validate_update(new, old, errors)
    messages = [str(error) for error in errors]
    assert len(messages) == len(expected)
    assert all(text.startswith(start) for text, start in zip(messages, expected, strict=True))


def test_the_difference_is_told() -> None:
    errors = Errors()
    assert RESOURCE.validate_update
    RESOURCE.validate_update(changed(OLD, "spec.hostname", "new"), OLD, errors)
    assert '\n- "Hostname": "",\n+ "Hostname": "new",\n' in str(errors[0])


RUNNING = {"name": "a", "state": {"running": {}}}
ENDED = {"name": "a", "state": {"terminated": {"exitCode": 1}}}
STAYS = "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"


@pytest.mark.parametrize(
    ("policy", "path", "value", "expected"),
    [
        ("Always", "status.containerStatuses", [RUNNING], []),
        ("OnFailure", "status.containerStatuses", [RUNNING], []),
        ("Never", "status.containerStatuses", [RUNNING], [STAYS]),
        ("Never", "status.phase", "Failed", []),
        ("Never", "status.qosClass", "Guaranteed",
         ['status.qosClass: Invalid value: "Guaranteed": field is immutable']),
        ("Never", "status.podIPs", [{"ip": "1.2.3.4"}, {"ip": "1.2.3.5"}],
         ['status.podIPs: Invalid value: [{"IP":"1.2.3.4"},{"IP":"1.2.3.5"}]: '
          "may specify no more than one IP for each IP family"]),
        ("Never", "status.nominatedNodeName", "n", []),
        ("Never", "status.resourceClaimStatuses", [{"name": "x"}],
         ['status.resourceClaimStatuses[0].name: Invalid value: "x": '
          "must match the name of an entry in `spec.resourceClaims`"]),
        ("Never", "status.observedGeneration", -1,
         ["status.observedGeneration: Invalid value: -1: must be a non-negative integer"]),
    ],
)  # fmt: skip
def test_status_update(policy: str, path: str, value: Any, expected: list[str]) -> None:
    old = make(restartPolicy=policy)
    old["status"]["containerStatuses"] = [ENDED]
    new = changed(old, path, value)
    assert RESOURCE.default and RESOURCE.prepare_status_update and RESOURCE.validate_status_update
    RESOURCE.default(new)
    RESOURCE.prepare_status_update(new, old)
    errors = Errors()
    RESOURCE.validate_status_update(new, old, errors)
    assert [str(error) for error in errors] == expected


def test_a_status_write_cannot_forget() -> None:
    old = make({"ownerReferences": [{"uid": "u"}]})
    old["status"] |= {
        "observedGeneration": 3,
        "conditions": [{"type": "Ready", "observedGeneration": 2}],
        "resourceClaimStatuses": [{"name": "c"}],
    }
    new = {**copy.deepcopy(old), "metadata": {"name": "p"}, "status": {"conditions": [{"type": "Ready"}]}}
    assert RESOURCE.prepare_status_update
    RESOURCE.prepare_status_update(new, old)
    assert new["metadata"]["ownerReferences"] == [{"uid": "u"}]
    assert new["status"] == {
        "conditions": [{"type": "Ready", "observedGeneration": 2}],
        "qosClass": "BestEffort",
        "observedGeneration": 3,
        "resourceClaimStatuses": [{"name": "c"}],
    }


def test_ephemeral_containers() -> None:
    old = make({"generation": 1})
    debug = {"name": "d", "image": "busybox", "resources": {}, "imagePullPolicy": "Always",
             "terminationMessagePolicy": "File"}  # fmt: skip
    new = changed(changed(old, "spec.ephemeralContainers", [debug]), "spec.hostname", "ignored")
    prepare_ephemeral_containers(new, old)
    errors = Errors()
    validate_ephemeral_containers_update(new, old, errors)
    assert not errors
    assert "hostname" not in new["spec"]
    assert new["metadata"]["generation"] == 2
    validate_ephemeral_containers_update(old, new, errors)
    assert str(errors[0]).startswith(
        'spec.ephemeralContainers: Forbidden: existing ephemeral containers "d" may not be removed'
    )


RESIZABLE = make(
    {"generation": 1},
    containers=[
        {**CONTAINER, "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2"}}}
    ],
)


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("spec.containers.0.resources.requests", {"cpu": "1500m", "memory": "1Gi"}, []),
        ("spec.containers.0.image", "ignored", []),
        ("spec.containers.0.resources.requests", {"cpu": "1"},
         ["spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed"]),
        ("spec.containers.0.resources", {"requests": {"cpu": "2", "memory": "1Gi"},
                                         "limits": {"cpu": "2", "memory": "1Gi"}},
         ['spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing']),
        ("spec.containers.0.resources.requests", {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1"},
         ["spec: Forbidden: only cpu and memory resources are mutable"]),
        ("spec.containers.0.name", "b",
         ["spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize"]),
        ("spec.containers", [RESIZABLE["spec"]["containers"][0], {"name": "b", "image": "c"}],
         ["spec.containers: Forbidden: containers may not be added or removed on resize"]),
    ],
)  # fmt: skip
def test_resize(path: str, value: Any, expected: list[str]) -> None:
    new = changed(RESIZABLE, path, value)
    assert RESOURCE.default
    RESOURCE.default(new)
    prepare_resize(new, RESIZABLE)
    errors = Errors()
    validate_resize(new, RESIZABLE, errors)
    assert [str(error) for error in errors] == expected


@pytest.mark.parametrize(
    ("spec", "phase", "asked", "expected"),
    [
        ({"nodeName": "n"}, "Running", None, 30),
        ({"nodeName": "n"}, "Running", 5, 5),
        ({"nodeName": "n"}, "Running", -5, 1),
        ({"nodeName": "n"}, "Succeeded", 5, 0),
        ({}, "Pending", 5, 0),
    ],
)
def test_grace_period(spec: Fields, phase: str, asked: int | None, expected: int) -> None:
    pod = make(**spec)
    pod["status"]["phase"] = phase
    assert RESOURCE.grace_period
    assert RESOURCE.grace_period(pod, asked) == expected


# -- printing ----------------------------------------------------------------------------------------------


def status(*states: Fields, **more: Any) -> Fields:
    return {
        "phase": "Running",
        "containerStatuses": [{"name": f"c{i}", **s} for i, s in enumerate(states)],
        **more,
    }


UP: Fields = {"ready": True, "restartCount": 0, "state": {"running": {}}}
DONE: Fields = {"state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}
CRASHED: Fields = {
    "restartCount": 3,
    "state": {"waiting": {"reason": "CrashLoopBackOff"}},
    "lastState": {"terminated": {"finishedAt": "2026-01-01T00:55:00Z"}},
}
READY = {"conditions": [{"type": "Ready", "status": "True"}]}
TWO = {"containers": [{"name": "c0", "image": "x"}, {"name": "c1", "image": "x"}]}
INIT = {
    "initContainers": [{"name": "i", "image": "x"}, {"name": "s", "image": "x", "restartPolicy": "Always"}]
}


@pytest.mark.parametrize(
    ("spec", "state", "metadata", "expected"),
    [
        ({}, {"phase": "Pending"}, {}, ["0/1", "Pending", "0"]),
        (TWO, status(UP, UP), {}, ["2/2", "Running", "0"]),
        (TWO, status(UP, CRASHED), {}, ["1/2", "CrashLoopBackOff", "3 (5m ago)"]),
        (TWO, status(UP, DONE, **READY), {}, ["1/2", "Running", "0"]),
        (TWO, status(UP, DONE), {}, ["1/2", "NotReady", "0"]),
        ({}, status({"state": {"terminated": {"exitCode": 2}}}), {}, ["0/1", "ExitCode:2", "0"]),
        ({}, status({"state": {"terminated": {"exitCode": 2, "signal": 9}}}), {}, ["0/1", "Signal:9", "0"]),
        ({}, status(UP), {"deletionTimestamp": "2026-01-01T00:00:00Z"}, ["1/1", "Terminating", "0"]),
        ({}, {"phase": "Failed", "reason": "Evicted"}, {"deletionTimestamp": "x"}, ["0/1", "Evicted", "0"]),
        ({}, {"phase": "Running", "reason": "NodeLost"}, {"deletionTimestamp": "x"}, ["0/1", "Unknown", "0"]),
        ({"schedulingGates": [{"name": "g"}]},
         {"phase": "Pending", "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]}, {},
         ["0/1", "SchedulingGated", "0"]),
        (INIT, {"phase": "Pending", "initContainerStatuses": [{"name": "i", "state": {"running": {}}}]}, {},
         ["0/2", "Init:0/2", "0"]),
        (INIT, {"initContainerStatuses": [{"name": "i", **CRASHED}]}, {},
         ["0/2", "Init:CrashLoopBackOff", "3 (5m ago)"]),
        (INIT, {"initContainerStatuses": [{"name": "i", "state": {"terminated": {"exitCode": 3}}}]}, {},
         ["0/2", "Init:ExitCode:3", "0"]),
        (INIT, status(UP, initContainerStatuses=[{"name": "i", "restartCount": 7, **DONE},
                                                 {"name": "s", "started": True, **UP}]), {},
         ["2/2", "Running", "0"]),
    ],
)  # fmt: skip
def test_row(spec: Fields, state: Fields, metadata: Fields, expected: list[str]) -> None:
    pod = {
        "metadata": {"name": "p", **metadata},
        "spec": {"containers": [CONTAINER], **spec},
        "status": state,
    }
    assert table.cells(RESOURCE.columns, pod, NOW)[1:4] == expected


def test_columns() -> None:
    assert [(column.name, column.priority) for column in RESOURCE.columns] == [
        ("Name", 0), ("Ready", 0), ("Status", 0), ("Restarts", 0), ("Age", 0),
        ("IP", 1), ("Node", 1), ("Nominated Node", 1), ("Readiness Gates", 1),
    ]  # fmt: skip
    pod = make({"creationTimestamp": "2026-01-01T00:58:00Z"}, nodeName="n",
               readinessGates=[{"conditionType": "a"}, {"conditionType": "b"}])  # fmt: skip
    pod["status"] |= {"podIPs": [{"ip": "10.0.0.1"}], "conditions": [{"type": "b", "status": "True"}]}
    assert table.cells(RESOURCE.columns, pod, NOW)[4:] == ["2m", "10.0.0.1", "n", "<none>", "1/2"]
    assert table.cells(RESOURCE.columns, make(), NOW)[5:] == ["<none>"] * 4


def test_field_selectors() -> None:
    pod = make(nodeName="n", serviceAccountName="s")
    pod["status"] |= {"podIPs": [{"ip": "10.0.0.1"}]}
    assert {name: read(pod) for name, read in RESOURCE.selectable.items()} == {
        "spec.nodeName": "n",
        "spec.restartPolicy": "Always",
        "spec.schedulerName": "default-scheduler",
        "spec.serviceAccountName": "s",
        "spec.hostNetwork": "false",
        "status.phase": "Pending",
        "status.podIP": "10.0.0.1",
        "status.nominatedNodeName": "",
    }


@pytest.mark.parametrize(
    ("metadata", "spec", "expected"),
    [
        ({}, {}, []),
        ({"name": "a.b"}, {}, ["metadata.name: this is used in the Pod's hostname, which can result in surprising "
                               "behavior; a DNS label is recommended: [must not contain dots]"]),
        ({"annotations": {"security.alpha.kubernetes.io/sysctls": ""}}, {},
         ['metadata.annotations[security.alpha.kubernetes.io/sysctls]: non-functional in v1.11+; use the "sysctls" '
          "field instead"]),
        ({}, {"nodeSelector": {"beta.kubernetes.io/os": "linux"}},
         ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead']),
        ({}, {"containers": [{**CONTAINER, "env": [{"name": "E"}, {"name": "E", "value": "x"}]}]},
         ['spec.containers[0].env[1]: hides previous definition of "E", which may be dropped when using apply']),
        ({}, {"containers": [{**CONTAINER, "ports": [{"containerPort": 1}, {"containerPort": 1}]}]},
         ["spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]"]),
        ({}, {"imagePullSecrets": [{"name": "s"}, {"name": "s"}]},
         ['spec.imagePullSecrets[1].name: duplicate name "s"']),
        ({}, {"volumes": [{"name": "v", "configMap": {"name": "m", "items": [
            {"key": "a", "path": "p"}, {"key": "b", "path": "p/q"}]}}]},
         ['volume "v" (ConfigMap "m"): overlapping paths: "p/q" with "p"']),
    ],
)  # fmt: skip
def test_warnings(metadata: Fields, spec: Fields, expected: list[str]) -> None:
    pod = make(metadata, **spec)
    assert RESOURCE.warnings
    assert RESOURCE.warnings(pod, None) == expected
    assert RESOURCE.warnings(pod, pod) == []


def test_pod_template_row() -> None:
    obj = {"metadata": {"name": "t"}, "template": {
        "metadata": {"labels": {"b": "2", "a": "1"}}, "spec": {"containers": [CONTAINER, {"name": "b", "image": "c"}]},
    }}  # fmt: skip
    assert table.cells(podtemplate.RESOURCE.columns, obj, NOW) == ["t", "a,b", "nginx:1,c", "a=1,b=2"]
    assert table.cells(podtemplate.RESOURCE.columns, {"metadata": {"name": "t"}}, NOW)[1:] == [
        "",
        "",
        "<none>",
    ]
