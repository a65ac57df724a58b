"""The kubelet's command line and configuration, what a node keeps from pods, and what static pods may not have."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pybernetes.node.kubelet import config, config_fields, config_types, config_validation
from pybernetes.node.kubelet import flags as command_line
from pybernetes.node.kubelet.config import ConfigurationError

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
    settings = _read(*COMMAND.split(), f"--config={tmp_path / 'config.yaml'}")
    assert settings["maxPods"] == 250 and settings["seccompDefault"] and settings["serverTLSBootstrap"]
    assert settings["authentication"]["x509"]["clientCAFile"] == "/etc/kubernetes/pki/ca.crt"
    assert settings["staticPodPath"] == "/etc/kubernetes/manifests" and settings["rotateCertificates"]
    # Nothing said, or a duration of nothing, is the default.
    assert (
        settings["nodeStatusUpdateFrequency"] == "10s"
        and settings["evictionPressureTransitionPeriod"] == "5m0s"
    )
    assert settings["containerRuntimeEndpoint"] == "unix:///run/containerd/containerd.sock"


HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"


def test_flags_win_over_files(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(
        HEAD + "maxPods: 5\nport: 1\nauthentication: {anonymous: {enabled: true}}\n"
    )
    more = tmp_path / "more"
    more.mkdir()
    (more / "10.conf").write_text(HEAD + "maxPods: 6\nsystemReserved: {cpu: 100m}\n")
    (more / "20.conf").write_text(HEAD + "maxPods: 7\nsystemReserved: {memory: 1Gi}\n")
    (more / "30.txt").write_text("maxPods: 8\n")
    settings = _read(
        f"--config={tmp_path / 'config.yaml'}", f"--config-dir={more}", "--port=10", "--anonymous-auth=false",
        "--eviction-hard=memory.available<1Gi,nodefs.available<5%", "--feature-gates=AllAlpha=false,ComponentStatusz=true",
        "--register-with-taints=key=value:NoSchedule,other:NoExecute", "--client-ca-file=/ca",
    )  # fmt: skip
    assert (settings["maxPods"], settings["port"]) == (7, 10)
    assert settings["systemReserved"] == {"cpu": "100m", "memory": "1Gi"}
    assert settings["authentication"]["anonymous"] == {"enabled": False}
    assert (
        settings["authentication"]["webhook"]["enabled"]
        and settings["authentication"]["x509"]["clientCAFile"] == "/ca"
    )
    assert settings["evictionHard"] == {"memory.available": "1Gi", "nodefs.available": "5%"}
    assert settings["featureGates"] == {"AllAlpha": False, "ComponentStatusz": True}
    assert settings["registerWithTaints"][1] == {"key": "other", "effect": "NoExecute"}


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"cpuManagerPolicy": "static"}, 'cpuManagerPolicy: "static" is not supported by this kubelet'),
        ({"memorySwap": {"swapBehavior": "LimitedSwap"}}, "memorySwap: .* is not supported by this kubelet"),
        ({"cgroupDriver": "other"}, "cgroupDriver must be cgroupfs or systemd"),
        ({"syncFrequency": "soon"}, 'time: invalid duration "soon"'),
        ({"shutdownGracePeriod": "30s"}, 'shutdownGracePeriod: "30s" is not supported by this kubelet'),
        ({"port": -1}, "port .--port. -1 must be between 1 and 65535, inclusive"),
        ({"maxPods": -1}, "maxPods .--max-pods. -1 must not be a negative number"),
        ({"nodeLeaseDurationSeconds": -1}, "nodeLeaseDurationSeconds must be greater than 0"),
        ({"maxParallelImagePulls": 2}, "maxParallelImagePulls cannot be larger than 1 unless"),
        ({"imageMaximumGCAge": "1m"}, "imageMaximumGCAge 1m must be greater than imageMinimumGCAge 2m0s"),
        ({"cpuCFSQuotaPeriod": "2s"}, "2s must be between 1ms and 1sec, inclusive"),
        ({"containerLogMonitorInterval": "1s"}, "greater than or equal to 3s"),
        (
            {"crashLoopBackOff": {"maxContainerRestartPeriod": "10m"}},
            r"got: 600 seconds\) must be set between",
        ),
        ({"podLogsDir": "logs"}, 'pod logs path "logs" must be absolute path'),
        ({"podLogsDir": "/var/../logs"}, 'pod logs path "/var/../logs" must be normalized'),
        (
            {"hairpinMode": "x"},
            'hairpinMode "x" must be one of: "none", "hairpin-veth", "promiscuous-bridge"',
        ),
        ({"enforceNodeAllocatable": ["pods", "pods"]}, 'duplicated enforcements "pods"'),
        ({"registerWithTaints": [{"key": "a", "effect": "Never"}]}, "invalid taint"),
        ({"logging": {"format": "json"}}, 'logging.format: "json" is not supported by this kubelet'),
        ({"maxPods": -1, "podsPerCore": -1}, r"error: \[invalid.*maxPods.*, invalid.*podsPerCore.*\]"),
        ({"imageGCHighThresholdPercent": 80, "imageGCLowThresholdPercent": 80}, "must be less than"),
        ({"containerLogMaxFiles": 1}, "containerLogMaxFiles must be greater than 1"),
        ({"evictionHard": {"foo": "1"}}, "unsupported eviction signal foo"),
        ({"enforceNodeAllocatable": ["pods", "system-reserved"]}, "systemReservedCgroup"),
        ({"enforceNodeAllocatable": ["none", "pods"]}, "may not contain additional enforcements"),
        ({"kubeReserved": {"pods": "5"}}, 'cannot reserve "pods" resource'),
        ({"allowedUnsafeSysctls": ["vm.*"]}, 'the sysctls "vm." are not known to be namespaced'),
        ({"userNamespaces": {"idsPerPod": 1}}, "userNamespaces.idsPerPod must not be less than 65536"),
        ({"userNamespaces": {"idsPerPod": 65537}}, "userNamespaces.idsPerPod must be a multiple of 65536"),
        (
            {"userNamespaces": {"idsPerPod": 2**32}},
            "userNamespaces.idsPerPod must not be more than 4294967295",
        ),
    ],
)
def test_configurations_that_cannot_be(given: dict[str, Any], error: str) -> None:
    with pytest.raises(ConfigurationError, match=error):
        config.validate(given)


def test_every_field_is_effective_or_says_why_not() -> None:
    """No field of v1.37 is silent: each is in one of three lists."""
    lists = [config_fields.DEFAULTS, config_fields.WITHOUT_EFFECT, config_fields.REFUSED]
    assert sorted(name for fields in lists for name in fields) == sorted(config_types.CONFIGURATION.fields)
    config.validate(config_fields.defaults())
    assert config.remarks(config_fields.defaults()) == []


@pytest.mark.parametrize("name", config_fields.DEFAULTS)
def test_an_effective_field_is_read_by_somebody(name: str) -> None:
    """Some module besides those of the configuration itself reads each field that is said to be effective."""
    assert name in _read_fields(), name


@cache
def _read_fields() -> set[str]:
    """Return the fields whose names stand as texts in the code of nodes and of the kubelet's program."""
    root = Path(config.__file__).parents[2]
    sources = [*(root / "node").rglob("*.py"), root / "cmd" / "kubelet.py"]
    own = {
        Path(str(module.__file__))
        for module in (config_fields, config_types, config_validation, command_line)
    }
    text = "".join(path.read_text() for path in sources if path not in own)
    names = set(re.findall(r"\w+", text))
    for part in ("system", "kube"):  # asked for as f"{part}Reserved"
        names |= {f"{part}Reserved", f"{part}ReservedCgroup"} if "ReservedCgroup" in names else set()
    names |= {f"nodeStatus{word}Frequency" for word in ("Update", "Report") if "Frequency" in text}
    return names


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"maxPods": 5, "cpuManagerPolicy": "none"}, []),
        ({"runtimeRequestTimeout": "120s"}, []),  # what it is anyway
        ({"hairpinMode": "none"}, ["hairpinMode changes nothing here"]),
        ({"authentication": {"x": {}}}, ['strict decoding error: unknown field "authentication.x"']),
        ({"maxPodz": 5}, ['strict decoding error: unknown field "maxPodz"']),
    ],
)
def test_what_is_told_about_a_configuration(given: dict[str, Any], words: list[str]) -> None:
    remarks = config.remarks(given)
    assert len(remarks) == len(words) and all(word in text for word, text in zip(words, remarks, strict=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "was empty"),
        ("maxPods: 5\n", "failed to decode: Object 'Kind' is missing in \"maxPods: 5\\n\""),
        ("kind: Pod\napiVersion: v1\n", 'no kind "Pod" is registered for version "v1" in scheme'),
        (HEAD + "maxPods: many\n", "json: cannot unmarshal string into Go struct field KubeletConfiguration.maxPods of type int32"),
        (HEAD + "failSwapOn: 1\n", "json: cannot unmarshal number into Go struct field KubeletConfiguration.failSwapOn of type bool"),
        (HEAD + "maxPods: [\n", "error converting YAML to JSON"),
    ],
)  # fmt: skip
def test_bad_files_are_told_as_upstream_does(text: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        config.load(path)
    assert str(caught.value).startswith(f"failed to load kubelet config file, path: {path}, error: ")
    assert expected in str(caught.value)
