"""The pure parts of the kubelet: what containers are made of, and small decisions."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.node.kubelet import cgroups, durations, resources
from pybernetes.node.kubelet.backoff import Backoff
from pybernetes.node.kubelet.containers import downward_api, etc_hosts, logs, resolv_conf
from pybernetes.node.kubelet.containers.environment import ConfigError, EnvironmentInputs, environment
from pybernetes.node.kubelet.containers.expansion import expand
from pybernetes.node.kubelet.cri import container_events
from pybernetes.node.kubelet.cri.containerd import TYPES
from pybernetes.node.kubelet.cri.pod_runtime import ContainerRun, ContainerState, PodRuntime
from pybernetes.node.kubelet.images import credentials, with_registry
from pybernetes.node.kubelet.node_status import conditions
from pybernetes.node.kubelet.object_cache import references
from pybernetes.node.kubelet.pod.pod_worker import WorkerPhase
from pybernetes.node.kubelet.pod.resize import Allocation, verdict
from pybernetes.node.kubelet.pod_admission import predicates
from pybernetes.node.kubelet.pod_admission.pod_admitter import other_pods
from pybernetes.node.kubelet.pod_sources.static_pod import static_pod
from pybernetes.node.kubelet.server.auth import attributes
from pybernetes.node.kubelet.status.status_manager import patch_of
from pybernetes.node.kubelet.volumes import atomic_writer
from pybernetes.node.kubelet.volumes.base import VolumeFile
from pybernetes.node.kubelet.volumes.safe_paths import sub_path
from pybernetes.node.network import cni


def pod(container: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    meta = {"name": "p", "namespace": "n", "uid": "u", "labels": {"a": "b"}, "annotations": {"x": 'q"\n'}}
    return {
        "metadata": meta,
        "spec": {"containers": [{"name": "c", "image": "i", **(container or {})}], **spec},
    }


@pytest.mark.parametrize(
    ("text", "result"),
    [("$(A)-$(B)", "1-$(B)"), ("$$(A)", "$(A)"), ("$A $", "$A $"), ("$(A", "$(A"), ("$$$$", "$$"), ("", "")],
)
def test_expansion(text: str, result: str) -> None:
    assert expand(text, {"A": "1"}) == result


SERVICE = {
    "metadata": {"name": "web-1", "namespace": "n"},
    "spec": {"clusterIP": "10.0.0.9", "ports": [{"name": "http", "port": 80}, {"name": "x", "port": 9, "protocol": "UDP"}]},
}  # fmt: skip


def surroundings(**more: Any) -> EnvironmentInputs:
    maps = {"cm": {"data": {"k": "v"}}}
    secrets = {"s": {"data": {"pw": base64.b64encode(b"x").decode()}}}
    return EnvironmentInputs(maps.get, secrets.get, addresses=("1.2.3.4",), host=("9.9.9.9",), **more)


def test_environment() -> None:
    container = {
        "envFrom": [{"configMapRef": {"name": "cm"}, "prefix": "P_"}, {"secretRef": {"name": "none", "optional": True}}],
        "env": [
            {"name": "A", "value": "$(P_k)/$(WEB_1_SERVICE_HOST)"},
            {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
            {"name": "L", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['a']"}}},
            {"name": "S", "valueFrom": {"secretKeyRef": {"name": "s", "key": "pw"}}},
            {"name": "O", "valueFrom": {"configMapKeyRef": {"name": "cm", "key": "no", "optional": True}}},
            {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}}},
        ],
    }  # fmt: skip
    definition = pod(container)
    found = environment(
        definition,
        definition["spec"]["containers"][0],
        surroundings(services=[SERVICE], allocatable={"cpu": "2"}),
    )
    assert {key: found[key] for key in ("P_k", "A", "IP", "L", "S", "CPU")} == {
        "P_k": "v", "A": "v/10.0.0.9", "IP": "1.2.3.4", "L": "b", "S": "x", "CPU": "2000",
    }  # fmt: skip
    assert "O" not in found
    assert found["WEB_1_SERVICE_PORT_HTTP"] == "80" and found["WEB_1_PORT_9_UDP"] == "udp://10.0.0.9:9"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"configMapKeyRef": {"name": "gone", "key": "k"}}, 'configmap "gone" not found'),
        ({"configMapKeyRef": {"name": "cm", "key": "gone"}}, "couldn't find key gone in ConfigMap n/cm"),
        ({"secretKeyRef": {"name": "s", "key": "gone"}}, "couldn't find key gone in Secret n/s"),
    ],
)
def test_what_is_missing_is_named(source: dict[str, Any], message: str) -> None:
    definition = pod({"env": [{"name": "A", "valueFrom": source}]})
    with pytest.raises(ConfigError, match=message):
        environment(definition, definition["spec"]["containers"][0], surroundings())


def test_fields_and_resources() -> None:
    assert downward_api.field_value(pod(), "metadata.annotations") == 'x="q\\"\\n"'
    definition = pod({"resources": {"requests": {"memory": "10Mi"}, "limits": {"cpu": "250m"}}})
    container = definition["spec"]["containers"][0]

    def amount(resource: str, divisor: str = "0") -> str:
        return downward_api.resource_value(
            definition, {"resource": resource, "divisor": divisor}, container, {"memory": "1Gi"}
        )

    assert (amount("limits.cpu"), amount("limits.cpu", "1m")) == ("1", "250")
    assert (amount("requests.memory", "1Mi"), amount("limits.memory", "1Mi")) == ("10", "1024")
    with pytest.raises(downward_api.FieldError):
        downward_api.field_value(pod(), "spec.unknown")


@pytest.mark.parametrize(
    ("spec", "servers", "searches"),
    [
        ({"dnsPolicy": "ClusterFirst"}, ("10.0.0.10",), ("n.svc.c.l", "svc.c.l", "c.l", "node.example")),
        ({"dnsPolicy": "Default"}, ("1.1.1.1",), ("node.example",)),
        ({"dnsPolicy": "ClusterFirst", "hostNetwork": True}, ("1.1.1.1",), ("node.example",)),
        ({"dnsPolicy": "None", "dnsConfig": {"nameservers": ["2.2.2.2"], "searches": ["s"]}}, ("2.2.2.2",), ("s",)),
    ],
)  # fmt: skip
def test_resolv(spec: dict[str, Any], servers: tuple[str, ...], searches: tuple[str, ...]) -> None:
    node = resolv_conf.parse("# x\nnameserver 1.1.1.1\nsearch node.example.\noptions ndots:1\n")
    found, _ = resolv_conf.resolv(pod(**spec), resolv_conf.ClusterDns(("10.0.0.10",), "c.l", node))
    assert (found.servers, found.searches) == (servers, searches)


def test_host_names() -> None:
    definition = pod(hostname="h", subdomain="s", hostAliases=[{"ip": "5.5.5.5", "hostnames": ["a", "b"]}])
    assert resolv_conf.names(definition, "c.l") == ("h", "s.n.svc.c.l")
    text = etc_hosts.text(definition, ("1.2.3.4",), "h", "s.n.svc.c.l", "")
    assert "1.2.3.4\th.s.n.svc.c.l\th\n" in text and text.endswith("5.5.5.5\ta\tb\n")
    definition["spec"] |= {"setHostnameAsFQDN": True, "subdomain": "x" * 60}
    with pytest.raises(ValueError, match="is too long"):
        resolv_conf.kernel_name(definition, "c.l")


@pytest.mark.parametrize(
    ("container", "expected"),
    [
        ({}, (2, 0, 0, 1000)),
        ({"requests": {"cpu": "500m", "memory": "1Gi"}}, (512, 0, 0, 900)),
        ({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1", "memory": "1Gi"}}, (1024, 100000, 1 << 30, -997)),
        ({"limits": {"cpu": "1m"}}, (2, 1000, 0, 999)),
    ],
)  # fmt: skip
def test_container_resources(container: dict[str, Any], expected: tuple[int, ...]) -> None:
    definition = pod({"resources": container})
    found = resources.linux(definition, definition["spec"]["containers"][0], 10 << 30)
    assert (found.cpu_shares, found.cpu_quota, found.memory_limit_in_bytes, found.oom_score_adj) == expected


def test_names_of_control_groups(tmp_path: Path) -> None:
    plain = cgroups.PodCgroups("/x", mount=tmp_path)
    assert plain.parent(pod()) == "/x/kubepods/besteffort/podu"
    systemd = cgroups.PodCgroups("/", "systemd", tmp_path)
    assert systemd.parent(pod()) == "kubepods-besteffort-podu.slice"
    assert (
        systemd.folder("kubepods-besteffort-podu.slice")
        == "kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podu.slice"
    )


def test_backoff_doubles_and_forgets() -> None:
    backoff, key = Backoff(10, 40), ("u", "c")
    waits = []
    now = 0.0
    for _ in range(5):
        waits.append(backoff.remaining(key, now, now))
        now += waits[-1]
        backoff.next(key, now, now)
    assert waits == [0, 10, 20, 40, 40]
    assert backoff.remaining(key, now + 81, now + 81) == 0
    backoff.forget("u")
    assert backoff.delay(key) == 0


@pytest.mark.parametrize(("seconds", "text"), [(5, "5s"), (80, "1m20s"), (300, "5m0s"), (3661, "1h1m1s")])
def test_durations(seconds: float, text: str) -> None:
    assert durations.text(seconds) == text


# -- logs ------------------------------------------------------------------------------------------------


def _log(path: Path) -> Path:
    lines = ["1 stdout F one", "2 stderr F two", "3 stdout P thr", "4 stdout F ee", "5 stdout F four"]
    path.write_text("\n".join(f"2026-01-01T00:00:0{line}" for line in lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "one\ntwo\nthree\nfour\n"),
        ({"tail": 2}, "three\nfour\n"),
        ({"tail": 0}, ""),
        ({"tail": 99}, "one\ntwo\nthree\nfour\n"),
        ({"limit": 5}, "one\nt"),
        ({"stream": "Stderr"}, "two\n"),
        ({"since": "2026-01-01T00:00:03"}, "three\nfour\n"),
        ({"tail": 1, "timestamps": True}, "2026-01-01T00:00:05 four\n"),
    ],
)
def test_reading_logs(tmp_path: Path, options: dict[str, Any], text: str) -> None:
    async def collect() -> bytes:
        return b"".join([piece async for piece in logs.read(path, logs.Options(**options))])

    path = _log(tmp_path / "0.log")
    assert asyncio.run(collect()).decode() == text


def test_following_a_log_through_rotation(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_text("t stdout F a\n")

    async def follow() -> bytes:
        ended, out = asyncio.Event(), b""
        async for piece in logs.read(path, logs.Options(follow=True), ended):
            out += piece
            if out == b"a\n":
                path.rename(tmp_path / "0.log.1")
                path.write_text("t stdout F b\n")
            else:
                ended.set()
        return out

    assert asyncio.run(follow()) == b"a\nb\n"


@given(st.lists(st.text("ab ", max_size=5), max_size=30), st.integers(0, 40))
def test_the_tail_of_a_log(tmp_path_factory: Any, lines: list[str], count: int) -> None:
    path = tmp_path_factory.getbasetemp() / "tail.log"
    path.write_text("".join(f"t stdout F {line}\n" for line in lines))
    whole = path.read_bytes()[logs.tail_offset(path, count) :].decode()
    assert whole == "".join(f"t stdout F {line}\n" for line in (lines[-count:] if count else []))


# -- volumes ---------------------------------------------------------------------------------------------


def test_files_change_all_at_once(tmp_path: Path) -> None:
    assert atomic_writer.write(tmp_path, {"a": VolumeFile(b"1", 0o644), "d/b": VolumeFile(b"2", 0o600)})
    assert (tmp_path / "a").read_text() == "1" and (tmp_path / "d/b").stat().st_mode & 0o777 == 0o600
    before = (tmp_path / "..data").readlink()
    assert not atomic_writer.write(tmp_path, {"a": VolumeFile(b"1", 0o644), "d/b": VolumeFile(b"2", 0o600)})
    assert atomic_writer.write(tmp_path, {"c": VolumeFile(b"3", 0o644)})
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith("..")) == ["c"]
    assert not (tmp_path / before).exists()


@pytest.mark.parametrize("path", ["/abs", "../up", "link/x", "a/../../b"])
def test_sub_paths_stay_in_their_volume(tmp_path: Path, path: str) -> None:
    volume = tmp_path / "volume"
    volume.mkdir()
    (volume / "link").symlink_to("/etc")
    with pytest.raises(OSError):
        sub_path(str(volume), path, 0o755)
    assert sub_path(str(volume), "new/deep", 0o755) == str(volume / "new/deep")


def test_references() -> None:
    definition = pod(
        {"envFrom": [{"configMapRef": {"name": "m1"}}]},
        imagePullSecrets=[{"name": "s1"}],
        volumes=[
            {"name": "a", "secret": {"secretName": "s2"}},
            {
                "name": "b",
                "projected": {"sources": [{"configMap": {"name": "m2"}}, {"secret": {"name": "s3"}}]},
            },
        ],
    )
    assert {(ref.plural, name) for ref, _, name in references(definition)} == {
        ("configmaps", "m1"), ("configmaps", "m2"), ("secrets", "s1"), ("secrets", "s2"), ("secrets", "s3"),
    }  # fmt: skip


# -- images, admission, resize ---------------------------------------------------------------------------


def test_credentials_of_images() -> None:
    def secret(**auths: str) -> dict[str, Any]:
        entries = {
            name.replace("__", "/").replace("_", "."): {"username": user} for name, user in auths.items()
        }
        value = orjson.dumps({"auths": entries})
        return {"data": {".dockerconfigjson": base64.b64encode(value).decode()}}

    given_ = [secret(r_example="wide", r_example__team="narrow", other="no")]
    assert [each["username"] for each in credentials("r.example/team/x:1", given_)] == ["narrow", "wide"]
    assert credentials("busybox", given_) == []
    assert with_registry("busybox") == "docker.io/library/busybox"
    assert with_registry("localhost/x") == "localhost/x"


def _required(operator: str, value: str) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": "a", "operator": operator, "values": [value]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({}, None),
        ({"nodeSelector": {"a": "c"}}, "NodeAffinity"),
        ({"securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}}, "SysctlForbidden"),
        ({"securityContext": {"sysctls": [{"name": "net.core.somaxconn", "value": "1"}]}}, None),
        ({"affinity": _required("In", "b")}, None),
        ({"affinity": _required("NotIn", "b")}, "NodeAffinity"),
        ({"os": {"name": "linux"}}, None),
        ({"os": {"name": "windows"}}, "PodOSNotSupported"),
        ({"tolerations": []}, "TaintToleration"),
    ],
)
def test_admission(spec: dict[str, Any], reason: str | None) -> None:
    node = {
        "metadata": {"name": "n", "labels": {"a": "b"}},
        "spec": {"taints": [{"key": "gone", "effect": "NoExecute"}, {"key": "full", "effect": "NoSchedule"}]},
        "status": {"allocatable": {"cpu": "1", "pods": "2"}},
    }
    spec = {"tolerations": [{"key": "gone", "operator": "Exists"}], **spec}
    found = predicates.refusal(pod(**spec), node, [], ["net.core.*"])
    assert (found and found[0]) == reason
    assert found is None or found[1].startswith("Pod was rejected: ")


def test_pods_deleted_by_force_do_not_count() -> None:
    def worker(uid: str, phase: WorkerPhase, removed: bool = False) -> Any:
        return SimpleNamespace(uid=uid, pod={"uid": uid}, phase=phase, removed=removed)

    workers = {
        each.uid: each
        for each in (
            worker("self", WorkerPhase.SYNCING),
            worker("runs", WorkerPhase.SYNCING),
            worker("ends", WorkerPhase.TERMINATING),
            worker("forced", WorkerPhase.TERMINATING, removed=True),
            worker("ended", WorkerPhase.TERMINATED),
        )
    }
    assert [each["uid"] for each in other_pods(workers, "self")] == ["runs", "ends"]


def test_admission_counts_others() -> None:
    node = {"status": {"allocatable": {"cpu": "1", "pods": "3"}}}
    large = pod({"resources": {"requests": {"cpu": "600m"}}, "ports": [{"containerPort": 1, "hostPort": 80}]})
    small = pod({"resources": {"requests": {"cpu": "600m"}}})
    assert predicates.refusal(large, node, [small])[0] == "OutOfcpu"  # type: ignore[index]
    assert predicates.refusal(large, node, [large])[0] == "NodePorts"  # type: ignore[index]
    assert predicates.refusal(pod(), node, [pod(), pod(), pod()])[0] == "OutOfpods"  # type: ignore[index]


def test_resize_waits_for_room_and_then_happens() -> None:
    def asking(cpu: str) -> dict[str, Any]:
        return pod({"resources": {"requests": {"cpu": cpu}}})

    assert verdict(asking("3"), {"cpu": "2"}, [])[0] == "Infeasible"  # type: ignore[index]
    runtime = PodRuntime("u", (), (ContainerRun("r", "c", ContainerState.RUNNING),))
    allocation = Allocation(asking("1"))
    assert not allocation.consider(asking("2"), runtime, {"cpu": "2"}, [asking("500m")])
    assert allocation.pending is not None and allocation.pending[0] == "Deferred"
    assert allocation.consider(asking("2"), runtime, {"cpu": "2"}, [])
    assert allocation.pending is None and allocation.allocated["c"] == {"requests": {"cpu": "2"}}


# -- what is sent and served -----------------------------------------------------------------------------


def test_patches_of_statuses_name_what_goes() -> None:
    before = {
        "reason": "x", "podIPs": [{"ip": "1"}],
        "conditions": [{"type": "Ready", "status": "False", "reason": "r"}, {"type": "PodResizePending", "status": "True"}],
    }  # fmt: skip
    after = {"podIPs": [{"ip": "2"}], "conditions": [{"type": "Ready", "status": "True"}]}
    patch = patch_of({"metadata": {"uid": "u"}}, after, before)["status"]
    assert patch["reason"] is None
    assert patch["podIPs"] == [{"ip": "2"}, {"$patch": "delete", "ip": "1"}]
    assert patch["conditions"] == [
        {"type": "Ready", "status": "True", "reason": None}, {"$patch": "delete", "type": "PodResizePending"},
    ]  # fmt: skip
    assert patch_of({"metadata": {"uid": "u"}}, after, after)["status"] == {}


@pytest.mark.parametrize(
    ("method", "path", "verb", "names"),
    [
        ("GET", "/pods", "get", ["pods", "proxy"]),
        ("GET", "/metrics/cadvisor", "get", ["metrics"]),
        ("POST", "/exec/n/p/c", "create", ["proxy"]),
        ("GET", "/containerLogs/n/p/c", "get", ["proxy"]),
        ("GET", "/stats/summary", "get", ["stats"]),
        ("GET", "/healthz", "get", ["healthz", "proxy"]),
    ],
)
def test_what_requests_need(method: str, path: str, verb: str, names: list[str]) -> None:
    found = attributes(method, path, "node")
    assert [each["subresource"] for each in found] == names and {each["verb"] for each in found} == {verb}


def test_conditions_of_nodes() -> None:
    found = {each["type"]: each for each in conditions([], ["a", "b"], frozenset(["DiskPressure"]), 0)}
    assert found["Ready"]["message"] == "[a, b]" and found["Ready"]["status"] == "False"
    assert found["DiskPressure"]["reason"] == "KubeletHasDiskPressure"
    again = conditions(list(found.values()), [], frozenset(), 60)
    assert {each["type"]: each["lastTransitionTime"][-4:] for each in again} == {
        "MemoryPressure": ":00Z", "DiskPressure": ":00Z", "PIDPressure": ":00Z", "Ready": ":00Z",
    }  # fmt: skip


def test_static_pods() -> None:
    text = "kind: Pod\nmetadata: {name: s}\nspec: {containers: [{name: c, image: i}]}"
    found = static_pod(text, Path("/m/s.yaml"), "Node1", "now")
    meta = found["metadata"]
    assert (meta["name"], meta["namespace"], found["spec"]["nodeName"]) == ("s-node1", "default", "Node1")
    assert meta["annotations"]["kubernetes.io/config.hash"] == meta["uid"]
    assert static_pod(text, Path("/m/s.yaml"), "Node1", "later")["metadata"]["uid"] == meta["uid"]
    for bad in ("kind: Service", "- a", "kind: Pod\nmetadata: {}\nspec: {}", "a: ]"):
        with pytest.raises(ValueError):
            static_pod(bad, Path("/m/s.yaml"), "n", "now")


@pytest.mark.parametrize(
    ("topic", "body", "expected"),
    [
        ("/tasks/exit", b"\x0a\x01c\x12\x01c\x18\x07", "c"),  # its process
        ("/tasks/exit", b"\x0a\x01c\x12\x01e\x18\x07", ""),  # a command in it
        ("/tasks/oom", b"\x0a\x01c", "c"),
        ("/tasks/exit", b"", ""),
    ],
)
def test_containers_that_events_are_about(topic: str, body: bytes, expected: str) -> None:
    wrapped = b"\x0a\x01t\x12" + bytes([len(body)]) + body
    text = b"\x12\x01n\x1a" + bytes([len(topic)]) + topic.encode() + b"\x22" + bytes([len(wrapped)]) + wrapped
    assert container_events.concerned(TYPES["Envelope"].FromString(text)) == expected


def test_network_configuration(tmp_path: Path) -> None:
    assert cni.write(tmp_path, ["10.1.0.0/24"]) and not cni.write(tmp_path, ["10.1.0.0/24"])
    value = orjson.loads((tmp_path / cni.FILE).read_bytes())
    assert value["plugins"][0]["ipam"]["ranges"] == [[{"subnet": "10.1.0.0/24"}]]
    assert [each["type"] for each in value["plugins"]] == ["bridge", "portmap"]
