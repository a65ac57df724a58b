"""The kubelet's command line and configuration, what a node keeps from pods, and what static pods may not have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pybernetes.lib.clock import ManualClock
from pybernetes.node.kubelet import config, node_allocatable
from pybernetes.node.kubelet import flags as command_line
from pybernetes.node.kubelet.config import ConfigurationError
from pybernetes.node.kubelet.pod_sources import static_pod, static_pod_url

# What the project was asked to take; the runtime's flags of older versions among them.
COMMAND = (
    "--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
    " --authentication-token-webhook=true --authorization-mode=Webhook --container-runtime=remote"
    " --container-runtime-endpoint=unix:///run/containerd/containerd.sock --max-pods=250 --node-ip=10.0.0.5"
    " --rotate-server-certificates=true --seccomp-default=true --cgroup-driver=systemd"
    " --runtime-cgroups=/system.slice/containerd.service"
)
# As kubeadm writes it.
FILE = """
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous: {enabled: false}
  webhook: {cacheTTL: 0s, enabled: true}
  x509: {clientCAFile: /etc/kubernetes/pki/ca.crt}
authorization: {mode: Webhook, webhook: {cacheAuthorizedTTL: 0s, cacheUnauthorizedTTL: 0s}}
cgroupDriver: systemd
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
containerRuntimeEndpoint: ""
cpuManagerReconcilePeriod: 0s
crashLoopBackOff: {}
evictionPressureTransitionPeriod: 0s
fileCheckFrequency: 0s
healthzBindAddress: 127.0.0.1
healthzPort: 10248
httpCheckFrequency: 0s
imageMaximumGCAge: 0s
imageMinimumGCAge: 0s
logging: {flushFrequency: 0, options: {json: {infoBufferSize: "0"}, text: {infoBufferSize: "0"}}, verbosity: 0}
memorySwap: {}
nodeStatusReportFrequency: 0s
nodeStatusUpdateFrequency: 0s
rotateCertificates: true
runtimeRequestTimeout: 0s
shutdownGracePeriod: 0s
shutdownGracePeriodCriticalPods: 0s
staticPodPath: /etc/kubernetes/manifests
streamingConnectionIdleTimeout: 0s
syncFrequency: 0s
volumeStatsAggPeriod: 0s
"""


def _read(*flags: str) -> dict[str, Any]:
    return command_line.configuration(command_line.parser().parse_args(list(flags)))


def test_the_usual_command_line(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(FILE)
    found = _read(*COMMAND.split(), f"--config={tmp_path / 'config.yaml'}")
    assert found["maxPods"] == 250 and found["seccompDefault"] and found["serverTLSBootstrap"]
    assert found["authentication"]["x509"]["clientCAFile"] == "/etc/kubernetes/pki/ca.crt"
    assert found["staticPodPath"] == "/etc/kubernetes/manifests" and found["rotateCertificates"]
    # Nothing said, or a duration of nothing, is the default.
    assert found["nodeStatusUpdateFrequency"] == "10s" and found["evictionPressureTransitionPeriod"] == "5m0s"
    assert found["containerRuntimeEndpoint"] == "unix:///run/containerd/containerd.sock"


def test_flags_win_over_files(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(
        "maxPods: 5\nport: 1\nauthentication: {anonymous: {enabled: true}}\n"
    )
    more = tmp_path / "more"
    more.mkdir()
    (more / "10.conf").write_text("maxPods: 6\nsystemReserved: {cpu: 100m}\n")
    (more / "20.conf").write_text("maxPods: 7\nsystemReserved: {memory: 1Gi}\n")
    (more / "30.txt").write_text("maxPods: 8\n")
    found = _read(
        f"--config={tmp_path / 'config.yaml'}", f"--config-dir={more}", "--port=10", "--anonymous-auth=false",
        "--eviction-hard=memory.available<1Gi,nodefs.available<5%", "--feature-gates=A=true,B=false",
        "--register-with-taints=key=value:NoSchedule,other:NoExecute", "--client-ca-file=/ca",
    )  # fmt: skip
    assert (found["maxPods"], found["port"]) == (7, 10)
    assert found["systemReserved"] == {"cpu": "100m", "memory": "1Gi"}
    assert found["authentication"]["anonymous"] == {"enabled": False}
    assert (
        found["authentication"]["webhook"]["enabled"]
        and found["authentication"]["x509"]["clientCAFile"] == "/ca"
    )
    assert found["evictionHard"] == {"memory.available": "1Gi", "nodefs.available": "5%"}
    assert found["featureGates"] == {"A": True, "B": False}
    assert found["registerWithTaints"][1] == {"key": "other", "effect": "NoExecute"}


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"cpuManagerPolicy": "static"}, "cpuManagerPolicy: the static CPU manager is not supported"),
        ({"memorySwap": {"swapBehavior": "LimitedSwap"}}, "memorySwap: swap for containers is not supported"),
        ({"cgroupDriver": "other"}, "cgroupDriver must be cgroupfs or systemd"),
        ({"syncFrequency": "soon"}, "syncFrequency"),
        ({"imageGCHighThresholdPercent": 80, "imageGCLowThresholdPercent": 80}, "must be less than"),
        ({"containerLogMaxFiles": 1}, "containerLogMaxFiles must be greater than 1"),
        ({"evictionHard": {"foo": "1"}}, "unsupported eviction signal foo"),
        ({"enforceNodeAllocatable": ["pods", "system-reserved"]}, "systemReservedCgroup"),
        ({"enforceNodeAllocatable": ["none", "pods"]}, "may not contain additional enforcements"),
        ({"kubeReserved": {"pods": "5"}}, 'cannot reserve "pods" resource'),
    ],
)
def test_configurations_that_cannot_be(given: dict[str, Any], error: str) -> None:
    with pytest.raises(ConfigurationError, match=error):
        config.validate(given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"maxPods": 5, "cpuManagerPolicy": "none"}, []),
        ({"runtimeRequestTimeout": "120s"}, []),  # what it is anyway
        ({"shutdownGracePeriod": "30s"}, ["shutdownGracePeriod changes nothing here"]),
        ({"maxPodz": 5}, ['strict decoding error: unknown field "maxPodz"']),
    ],
)
def test_what_is_told_about_a_configuration(given: dict[str, Any], words: list[str]) -> None:
    found = config.remarks(given)
    assert len(found) == len(words) and all(word in text for word, text in zip(words, found, strict=True))


TOTAL = {"cpu": "4", "memory": "8Gi", "ephemeral-storage": "100Gi", "pods": "110"}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, TOTAL),
        ({"evictionHard": {"memory.available": "1Gi", "nodefs.available": "10%"}}, {**TOTAL, "memory": "7Gi", "ephemeral-storage": "90Gi"}),
        ({"evictionHard": {"memory.available": "0%"}}, TOTAL),
        ({"systemReserved": {"cpu": "500m", "memory": "1Gi"}, "kubeReserved": {"cpu": "500m"}}, {**TOTAL, "cpu": "3", "memory": "7Gi"}),
        ({"systemReserved": {"cpu": "9"}}, {**TOTAL, "cpu": "0"}),
        ({"systemReserved": {"cpu": "500m"}, "reservedSystemCPUs": "0-1"}, {**TOTAL, "cpu": "2"}),
    ],
)  # fmt: skip
def test_what_is_left_for_pods(settings: dict[str, Any], expected: dict[str, str]) -> None:
    assert node_allocatable.allocatable(TOTAL, settings) == expected


@pytest.mark.parametrize(("text", "cpus"), [("", set()), ("3", {3}), ("0-2,7", {0, 1, 2, 7})])
def test_sets_of_cpus(text: str, cpus: set[int]) -> None:
    assert node_allocatable.cpu_set(text) == cpus


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ({}, ""),
        ({"serviceAccountName": "x"}, "serviceaccounts"),
        ({"imagePullSecrets": [{"name": "x"}]}, "secrets"),
        ({"containers": [{"env": [{"name": "A", "valueFrom": {"secretKeyRef": {}}}]}]}, "secrets"),
        ({"containers": [{"env": [{"name": "A", "valueFrom": {"fieldRef": {}}}]}]}, ""),
        ({"initContainers": [{"envFrom": [{"configMapRef": {"name": "x"}}]}]}, "configmaps"),
        ({"volumes": [{"name": "v", "configMap": {"name": "x"}}]}, "configmaps (via configmap volumes)"),
        ({"volumes": [{"name": "v", "hostPath": {"path": "/"}}, {"name": "e", "emptyDir": {}}]}, ""),
        ({"volumes": [{"name": "v", "projected": {"sources": [{"downwardAPI": {}}]}}]}, ""),
        ({"volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {}}]}}]}, "serviceaccounts (via projected volumes)"),
        ({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "x"}}]}, "persistentvolumeclaims"),
    ],
)  # fmt: skip
def test_what_static_pods_need_of_the_api(spec: dict[str, Any], kind: str) -> None:
    assert static_pod.api_reference(spec) == kind


def test_static_pods_of_a_url() -> None:
    source = static_pod_url.StaticPodUrl("http://x/pods", {}, "Node1", ManualClock(), lambda pods: None)
    listed = "kind: PodList\nitems:\n- {metadata: {name: a}, spec: {containers: [{name: c, image: i}]}}\n"
    (pod,) = source.parse(listed.encode()).values()
    assert (pod["metadata"]["name"], pod["metadata"]["namespace"]) == ("a-node1", "default")
    assert pod["metadata"]["annotations"]["kubernetes.io/config.source"] == "http"
    assert "tolerations" not in pod["spec"] and pod["spec"]["nodeName"] == "Node1"
    one = "kind: Pod\nmetadata: {name: a, uid: u}\nspec: {containers: [{name: c, image: i}]}\n"
    assert list(source.parse(one.encode())) == ["u"]
    for wrong in ("- 1", "kind: Pod\nmetadata: {}\nspec: {}\n", "kind: Service\n"):
        with pytest.raises(ValueError):
            source.parse(wrong.encode())


def test_two_files_with_one_pod(tmp_path: Path) -> None:
    text = "kind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: i}]}\n"
    for name in ("1.yaml", "2.yaml", ".hidden"):
        (tmp_path / name).write_text(text)
    found: list[dict[str, Any]] = []
    pods = static_pod.StaticPodDirectory(tmp_path, "n", ManualClock(), found.append)
    pods._read()
    assert len(found[-1]) == 1
