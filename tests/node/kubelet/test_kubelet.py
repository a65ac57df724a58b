"""Real pods on a real containerd, from our API server: what a user of a node sees.

It is one file, past 400 lines, because all of it shares one node: another would take as long as several of its tests.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pybernetes.lib import oci
from pybernetes.node.containerd import images
from tests.node.kubelet.real_node import (
    ADDRESS,
    FOREVER,
    Node,
    container,
    is_ready,
    phase,
    real_node,
    shell,
    waits_with,
)
from tests.support import end, require_program

pytestmark = [pytest.mark.slow, pytest.mark.e2e]


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    require_program("kubectl")
    with real_node(tmp_path_factory.mktemp("node")) as node:
        yield node


def test_a_pod_runs_and_goes(node: Node, tmp_path: Path) -> None:
    node.post("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "cm"}, "data": {"key": "one"}})
    node.post(
        "/api/v1/namespaces/default/secrets", {"metadata": {"name": "sec"}, "stringData": {"pw": "secret"}}
    )
    tmp_path.chmod(0o777)
    volumes = [
        {"name": "cm", "configMap": {"name": "cm"}},
        {"name": "sec", "secret": {"secretName": "sec", "defaultMode": 0o400}},
        {"name": "mem", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}},
        {"name": "host", "hostPath": {"path": str(tmp_path), "type": "Directory"}},
        {
            "name": "down",
            "downwardAPI": {"items": [{"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}}]},
        },
    ]
    mounts = [{"name": volume["name"], "mountPath": f"/{volume['name']}"} for volume in volumes]
    mounts.append({"name": "mem", "mountPath": "/sub", "subPathExpr": "$(SUB)/deep"})
    node.create(
        "full",
        shell(
            f"echo started $(SUB); {FOREVER}",
            env=[
                {"name": "SUB", "value": "zz"},
                {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
            ],
            envFrom=[{"secretRef": {"name": "sec"}, "prefix": "S_"}],
            resources={"limits": {"cpu": "250m", "memory": "32Mi"}},
            volumeMounts=mounts,
            securityContext={"readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}},
            lifecycle={
                "postStart": {"exec": {"command": ["touch", "/mem/post"]}},
                "preStop": {"exec": {"command": ["sh", "-c", "echo bye > /host/pre"]}},
            },
            readinessProbe={"exec": {"command": ["cat", "/mem/post"]}, "periodSeconds": 1},
        ),
        volumes=volumes,
        hostname="hh",
        hostAliases=[{"ip": "1.2.3.4", "hostnames": ["foo"]}],
        securityContext={
            "runAsUser": 1000,
            "runAsGroup": 2000,
            "fsGroup": 3000,
            "supplementalGroups": [4000],
        },
    )
    pod = node.until_ready("full")
    uid = pod["metadata"]["uid"]
    assert pod["status"]["phase"] == "Running" and pod["status"]["hostIP"] == ADDRESS
    text = node.server.kubectl(
        "exec", "full", "--", "sh", "-c",
        "id; hostname; cat /cm/key /down/l; echo; cat /etc/hosts; ls -ln /sec/..data/; env; touch /x 2>&1 || echo readonly",
    )  # fmt: skip
    for piece in (
        "uid=1000 gid=2000 groups=2000,3000,4000", "\nhh\n", 'oneapp="full"', "1.2.3.4\tfoo", "-r--r-----", "3000",
        "S_pw=secret", f"IP={pod['status']['podIP']}", "readonly",
    ):  # fmt: skip
        assert piece in text
    assert node.server.kubectl("logs", "full") == "started zz\n"
    assert node.server.kubectl("exec", "-i", "full", "--", "cat", given="through") == "through"
    failed = node.server.kubectl("exec", "full", "--", "sh", "-c", "exit 7", fails=True)
    assert "exit code 7" in failed
    quota = [path.read_text() for path in Path("/sys/fs/cgroup").glob(f"cpu*/**/pod{uid}/cpu.cfs_quota_us")]
    quota += [path.read_text() for path in Path("/sys/fs/cgroup").glob(f"**/pod{uid}/cpu.max")]
    assert quota and quota[0].split()[0] == "25000"
    node.server.kubectl("patch", "configmap", "cm", "-p", '{"data":{"key":"two"}}')
    node.until(lambda: node.server.kubectl("exec", "full", "--", "cat", "/cm/key") == "two")
    node.delete("full")
    assert (tmp_path / "pre").read_text() == "bye\n"


def test_init_containers_sidecars_and_last_words(node: Node) -> None:
    node.create(
        "steps",
        shell("cat /shared/log > /dev/termination-log", volumeMounts=[{"name": "v", "mountPath": "/shared"}]),
        initContainers=[
            shell("echo one >> /shared/log", "first", volumeMounts=[{"name": "v", "mountPath": "/shared"}]),
            shell(
                f"echo two >> /shared/log; {FOREVER}",
                "side",
                restartPolicy="Always",
                volumeMounts=[{"name": "v", "mountPath": "/shared"}],
                startupProbe={"exec": {"command": ["cat", "/shared/log"]}, "periodSeconds": 1},
            ),
        ],
        volumes=[{"name": "v", "emptyDir": {}}],
        restartPolicy="Never",
    )
    pod = node.until_pod("steps", phase("Succeeded"))
    ended = container(pod)["state"]["terminated"]
    assert (ended["exitCode"], ended["reason"], ended["message"]) == (0, "Completed", "one\ntwo\n")
    assert container(pod, "side", "initContainerStatuses")["state"]["terminated"]["exitCode"] == 0
    node.delete("steps")


def test_crashes_and_failing_probes_restart_containers(node: Node) -> None:
    node.create("crash", shell("echo oops; exit 3", terminationMessagePolicy="FallbackToLogsOnError"))
    node.create(
        "sick",
        shell(
            FOREVER, livenessProbe={"exec": {"command": ["false"]}, "periodSeconds": 1, "failureThreshold": 1}
        ),
        terminationGracePeriodSeconds=1,
    )
    pod = node.until_pod(
        "crash", lambda pod: container(pod)["state"].get("waiting", {}).get("reason") == "CrashLoopBackOff"
    )
    assert container(pod)["restartCount"] == 1 and pod["status"]["phase"] == "Running"
    last = container(pod)["lastState"]["terminated"]
    assert last["exitCode"] == 3 and last["message"] == "oops\n"
    assert container(pod)["state"]["waiting"]["message"].startswith(
        "back-off 10s restarting failed container=c"
    )
    assert node.server.kubectl("logs", "crash", "--previous") == "oops\n"
    node.until_pod("sick", lambda pod: container(pod).get("restartCount", 0) >= 1)
    node.delete("crash")
    node.delete("sick")


def test_readiness_is_told_while_a_pod_ends(node: Node) -> None:
    """Whoever sends traffic to pods that end wants to know; what is alive matters no more."""
    # Whoever writes the file has a moment to come to an end before the container does.
    ends = "trap 'rm /tmp/ready; until [ -e /tmp/end ]; do sleep 0.05; done; sleep 2; exit 0' TERM"
    once = {"periodSeconds": 1, "failureThreshold": 1}
    node.create(
        "ending",
        shell(
            f"touch /tmp/ready; {ends}; while true; do sleep 0.05; done",
            startupProbe={"exec": {"command": ["true"]}, **once},
            readinessProbe={"exec": {"command": ["cat", "/tmp/ready"]}, **once},
            livenessProbe={"exec": {"command": ["cat", "/tmp/ready"]}, **once},
        ),
        terminationGracePeriodSeconds=600,
    )
    node.until_ready("ending")
    node.server.kubectl("delete", "pod", "ending", "--wait=false")
    pod = node.until_pod("ending", lambda pod: not is_ready(pod))
    assert pod["metadata"]["deletionTimestamp"] and container(pod)["started"]
    node.server.kubectl("exec", "ending", "--", "touch", "/tmp/ready")
    pod = node.until_ready("ending")
    assert container(pod)["restartCount"] == 0 and container(pod)["state"].get("running")
    node.server.kubectl("exec", "ending", "--", "touch", "/tmp/end")
    node.until(lambda: node.pod("ending") is None)


def test_images_that_cannot_be_had(node: Node) -> None:
    node.create("never", {"name": "c", "image": "absent.invalid/x:1", "imagePullPolicy": "Never"})
    node.create("pull", {"name": "c", "image": "absent.invalid/x:1"})
    reasons = {"never": "ErrImageNeverPull", "pull": "ImagePullBackOff"}
    for name, reason in reasons.items():
        node.until_pod(name, waits_with(reason))
        node.delete(name)


REGISTRY = "127.0.0.1:5055"  # runtimes speak plain HTTP to loopback
# The password is "pw".
PASSWORDS = "joe:$2b$04$5TEJrBy6Vs5IywPNt.xDGuciF4kPV/uqVGNWG/XQ00jcfBNvFCt3.\n"


def test_images_come_from_a_registry_that_asks_for_a_password(node: Node, tmp_path: Path) -> None:
    program = require_program("docker-registry")
    (tmp_path / "passwords").write_text(PASSWORDS)
    (tmp_path / "config.yml").write_text(
        f"version: 0.1\nstorage: {{filesystem: {{rootdirectory: {tmp_path}/data}}}}\n"
        f"http: {{addr: '{REGISTRY}'}}\nauth: {{htpasswd: {{realm: r, path: {tmp_path}/passwords}}}}\n"
    )
    image = f"{REGISTRY}/team/busy:1"
    with (tmp_path / "log").open("w") as log:
        registry = subprocess.Popen([program, "serve", str(tmp_path / "config.yml")], stdout=log, stderr=log)
    try:
        # Not the image of the other tests under another name: who may use that is not to change.
        busybox = oci.File(Path(require_program("busybox")).read_bytes(), 0o755)
        layer = oci.layer(
            {"bin/busybox": busybox, "bin/sh": oci.File(link="busybox"), "private": oci.File(b"x")}
        )
        archive = oci.archive(image, layer, oci.Process(command=("sh",)))
        node.runner.run(images.load(node.places.socket, archive))
        node.until(lambda: _pushed(node, image))
        node.ctr("images", "rm", image)
        node.server.kubectl(
            "create", "secret", "docker-registry", "cred", f"--docker-server={REGISTRY}",
            "--docker-username=joe", "--docker-password=pw",
        )  # fmt: skip
        pulled = {"image": image, "imagePullPolicy": "Always"}
        node.create("refused", shell("true", **pulled), restartPolicy="Never")
        let_in = {"restartPolicy": "Never", "imagePullSecrets": [{"name": "cred"}]}
        node.create("let-in", shell("true", **pulled), **let_in)
        node.until_pod("let-in", phase("Succeeded"))
        mounted = [{"name": "v", "mountPath": "/v", "subPath": "bin"}]
        volume = {"name": "v", "image": {"reference": image, "pullPolicy": "Always"}}
        node.create("mounts", shell("test -e /v/busybox", volumeMounts=mounted), volumes=[volume], **let_in)
        node.until_pod("mounts", phase("Succeeded"))
        # It is on the node now, and is still not for a pod without the password, nor is that told that it is there.
        for name, policy in (("other", "IfNotPresent"), ("never", "Never")):
            node.create(name, shell("true", image=image, imagePullPolicy=policy), restartPolicy="Never")
        node.create("again", shell("true", image=image, imagePullPolicy="Never"), **let_in)
        node.until_pod("again", phase("Succeeded"))
        for name, reason in (
            ("refused", "ImagePullBackOff"),
            ("other", "ImagePullBackOff"),
            ("never", "ErrImageNeverPull"),
        ):
            node.until_pod(name, waits_with(reason))
            node.delete(name)
        node.delete("again")
        node.delete("let-in")
        node.delete("mounts")
    finally:
        end(registry)


def _pushed(node: Node, image: str) -> bool:
    """Push an image; return False if the registry does not listen yet."""
    try:
        node.ctr("images", "push", "--plain-http", "--user", "joe:pw", image)
    except subprocess.CalledProcessError:
        return False
    return True


def test_deadlines_and_refusals(node: Node) -> None:
    node.create("slow", shell(FOREVER), activeDeadlineSeconds=1, restartPolicy="Never")
    node.create("huge", shell(FOREVER, resources={"requests": {"memory": "1000Gi"}}))
    pod = node.until_pod("slow", phase("Failed"))
    assert pod["status"]["reason"] == "DeadlineExceeded"
    pod = node.until_pod("huge", phase("Failed"))
    assert pod["status"]["reason"] == "OutOfmemory"
    node.delete("slow")
    node.delete("huge")


def test_containers_outlive_kubelet_and_containerd(node: Node) -> None:
    probe = {"exec": {"command": ["true"]}, "periodSeconds": 1}
    node.create("keep", shell(FOREVER, readinessProbe=probe, livenessProbe=probe, startupProbe=probe))
    before = node.until_ready("keep")
    node.stop_kubelet(signal.SIGKILL)
    node.create("later", shell(FOREVER))
    node.start_kubelet()
    node.until_ready("later")
    after = node.pod("keep")
    assert after is not None and after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]
    node.stop_containerd()
    node.until(lambda: not node.is_ready())
    node.start_containerd()
    node.until(node.is_ready)
    node.create("more", shell(FOREVER))
    node.until_ready("more")
    after = node.pod("keep")
    assert after is not None and is_ready(after)
    assert container(after)["containerID"] == container(before)["containerID"]
    for name in ("keep", "later", "more"):
        node.delete(name)


def test_a_node_that_was_not_heard_from_says_how_it_is(node: Node) -> None:
    """The control plane has called the node unknown and its pods not ready meanwhile."""
    node.create("unheard", shell(FOREVER))
    node.until_ready("unheard")
    for path, status in (
        (f"/api/v1/nodes/{node.name}/status", "Unknown"),
        ("/api/v1/namespaces/default/pods/unheard/status", "False"),
    ):
        ready = {"type": "Ready", "status": status, "reason": "Unheard", "message": "not heard from"}
        code, answer = node.server.call(
            "PATCH",
            path,
            {"status": {"conditions": [ready]}},
            headers={"Content-Type": "application/strategic-merge-patch+json"},
        )
        assert code == 200, answer
    node.until(node.is_ready)
    pod = node.until_ready("unheard")
    ready = next(condition for condition in pod["status"]["conditions"] if condition["type"] == "Ready")
    assert "reason" not in ready and "message" not in ready
    node.delete("unheard")


def test_static_pods_are_mirrored(node: Node) -> None:
    manifest = node.manifests / "static.yaml"
    manifest.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: static}\nspec:\n  hostNetwork: true\n"
        "  terminationGracePeriodSeconds: 1\n  automountServiceAccountToken: false\n"
        f"  containers:\n  - {{name: c, image: 'busybox:1', command: [sh, -c, \"{FOREVER}\"]}}\n"
    )
    pod = node.until_ready("static-node1")
    assert pod["status"]["podIP"] == ADDRESS
    assert pod["metadata"]["annotations"]["kubernetes.io/config.source"] == "file"
    first = container(pod)["containerID"]
    node.server.kubectl("delete", "pod", "static-node1", "--wait=false")
    node.until_pod("static-node1", lambda pod: is_ready(pod) and container(pod)["containerID"] == first)
    # A file that changes is another pod, which begins when the one before has ended.
    manifest.write_text(
        manifest.read_text().replace("{name: static}", "{name: static, labels: {changed: 'yes'}}")
    )
    second = node.until_pod(
        "static-node1",
        lambda pod: (
            is_ready(pod) and container(pod)["containerID"] != first and pod["metadata"].get("labels")
        ),
    )
    node.until(lambda: not node.traces(pod["metadata"]["annotations"]["kubernetes.io/config.hash"]))
    pod = second
    manifest.unlink()
    node.until(lambda: node.pod("static-node1") is None)
    node.until(lambda: not node.traces(pod["metadata"]["annotations"]["kubernetes.io/config.hash"]))


def test_ports_are_forwarded_and_probed(node: Node) -> None:
    serve = (
        "trap 'exit 0' TERM; while true; do printf 'HTTP/1.0 200 OK\\r\\n\\r\\nhello' | nc -l -p 8080; done"
    )
    get = {"httpGet": {"path": "/", "port": "web"}, "periodSeconds": 1}
    node.create(
        "web",
        shell(serve, ports=[{"name": "web", "containerPort": 8080}], readinessProbe=get),
        terminationGracePeriodSeconds=1,
    )
    node.until_ready("web")
    forward = subprocess.Popen(
        ["kubectl", f"--kubeconfig={node.server.kubeconfig}", "port-forward", "pod/web", "18080:8080"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        assert forward.stdout is not None
        assert "Forwarding from" in forward.stdout.readline()
        import urllib.request

        def ask() -> bytes:
            try:
                with urllib.request.urlopen("http://127.0.0.1:18080/", timeout=5) as answer:
                    return answer.read()
            except OSError:
                return b""  # nc serves one after the other, and the probe may have been first

        node.until(lambda: ask() == b"hello")
    finally:
        end(forward)
    node.delete("web")


def test_one_container_has_all_begin_anew(node: Node) -> None:
    rule = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}
    node.create(
        "anew",
        shell(FOREVER, "main"),
        shell("[ -e /data/seen ] || { touch /data/seen; sleep 0.3; exit 42; }; " + FOREVER, "cause",
              restartPolicy="Never", restartPolicyRules=[rule], volumeMounts=[{"name": "data", "mountPath": "/data"}]),
        volumes=[{"name": "data", "emptyDir": {}}], restartPolicy="Never",
        initContainers=[shell("echo init", "init")],
    )  # fmt: skip
    pod = node.until_pod(
        "anew",
        lambda pod: (
            is_ready(pod)
            and all(container["restartCount"] == 1 for container in pod["status"]["containerStatuses"])
        ),
    )
    assert (
        pod["status"]["phase"] == "Running" and pod["status"]["initContainerStatuses"][0]["restartCount"] == 1
    )
    conditions = {condition["type"]: condition["status"] for condition in pod["status"]["conditions"]}
    assert conditions["AllContainersRestarting"] == "False"
    node.delete("anew")


def test_a_pod_that_the_node_needs_gets_room(node: Node) -> None:
    node.create("less", shell(FOREVER, resources={"requests": {"cpu": _all_cpus(node)}}))
    node.until_ready("less")
    needed = shell(FOREVER, resources={"requests": {"cpu": "10m"}})
    node.create("plain", needed)
    assert node.until_pod("plain", phase("Failed"))["status"]["reason"] == "OutOfcpu"
    node.create("needed", needed, priorityClassName="system-node-critical")
    node.until_ready("needed")
    pod = node.until_pod("less", phase("Failed"))
    assert (pod["status"]["reason"], pod["status"]["message"]) == (
        "Preempting",
        "Preempted in order to admit critical pod",
    )
    for name in ("less", "plain", "needed"):
        node.delete(name)


def _all_cpus(node: Node) -> str:
    return node.server.call("GET", f"/api/v1/nodes/{node.name}")[1]["status"]["allocatable"]["cpu"]
