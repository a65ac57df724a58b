"""A cluster with web servers behind services of several kinds, and what can be tried in it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from pybernetes.tools.local.network import network
from tests.node.kubelet.real_node import IMAGE, busybox
from tests.support import until
from tests.tools.local.host import Host
from tests.tools.local.user import User

NAME = f"net{os.getpid() % 100000}"
NODES = (NAME, f"{NAME}-2", f"{NAME}-3")
SERVE = "mkdir /www; hostname > /www/index.html; exec httpd -f -p 80 -h /www"
ENDS_WELL = {"terminationGracePeriodSeconds": 1}


def objects() -> list[dict[str, Any]]:
    """Return a web server on every node, behind services of several kinds, and a pod to look from."""
    labels, port = {"app": "web"}, {"name": "http", "port": 80}
    container = {"name": "c", "image": IMAGE, "imagePullPolicy": "Never"}
    web = {**container, "command": ["sh", "-c", SERVE], "ports": [{"containerPort": 80, "hostPort": 8081}]}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [web], **ENDS_WELL}}
    services = {
        "foo": {"selector": labels, "ports": [port]},
        "heads": {"selector": labels, "ports": [port], "clusterIP": "None"},
        "door": {"selector": labels, "ports": [{**port, "nodePort": 30123}], "type": "NodePort"},
        "balanced": {"selector": labels, "ports": [port], "type": "LoadBalancer"},
        "local": {
            "selector": labels,
            "ports": [port],
            "type": "LoadBalancer",
            "externalTrafficPolicy": "Local",
        },
        "near": {"selector": labels, "ports": [port], "trafficDistribution": "PreferSameZone"},
        "nearest": {"selector": labels, "ports": [port], "trafficDistribution": "PreferSameNode"},
        "closed": {"selector": {"app": "nobody"}, "ports": [port]},
        "alias": {"type": "ExternalName", "externalName": "foo.default.svc.cluster.local"},
    }
    look = {**container, "command": ["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 1; done"]}
    spec = {"selector": {"matchLabels": labels}, "template": pod}
    return [
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "web"}, "spec": spec},
        *(
            {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}
            for name, spec in services.items()
        ),
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "look", "namespace": "default"},
         "spec": {"containers": [look], **ENDS_WELL}},
    ]  # fmt: skip


class Net(User):
    """The cluster, and what can be tried in it."""

    addresses: dict[str, str]  # of the web servers, by pod
    nodes: dict[str, str]  # of the web servers, by node

    def __init__(self, home: Path, machine: Host) -> None:
        super().__init__(home)
        self.home, self.machine = home, machine

    def fill(self) -> None:
        """Make the objects and wait for the pods."""
        (self.home / "image.tar").write_bytes(busybox())
        self.pyb("image", "load", str(self.home / "image.tar"))
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects()})
        (self.home / "objects.json").write_text(text)
        self.kubectl("apply", "-f", str(self.home / "objects.json"))
        self.look()

    def look(self) -> None:
        """Wait for the pods and take note of their addresses."""
        self.kubectl("rollout", "status", "daemonset/web", "--timeout=180s")
        self.kubectl("wait", "--for=condition=Ready", "pod/look", "--timeout=180s")
        pods = json.loads(self.kubectl("get", "pods", "-l", "app=web", "-o", "json"))["items"]
        self.addresses = {pod["metadata"]["name"]: pod["status"]["podIP"] for pod in pods}
        self.nodes = {pod["spec"]["nodeName"]: pod["status"]["podIP"] for pod in pods}

    def setting(self, name: str) -> Any:
        """Return a setting of the cluster."""
        path = Path(self.environment["PYBERNETES_HOME"]) / f"clusters/{NAME}/cluster.json"
        return json.loads(path.read_text())[name]

    def clusterip(self, service: str) -> str:
        """Return the cluster IP of a service."""
        return self.kubectl("get", "service", service, "-o", "jsonpath={.spec.clusterIP}")

    def balancer(self, service: str) -> str:
        """Return the address that a service of type LoadBalancer got."""
        arguments = ("get", "service", service, "-o", "jsonpath={.status.loadBalancer.ingress[0].ip}")
        self.until("172.30.", *arguments)
        return self.kubectl(*arguments)

    def from_here(self, url: str) -> bool:
        """Return whether this machine gets the page."""
        done = subprocess.run(["curl", "-s", "-m", "2", f"http://{url}/"], capture_output=True, text=True)
        return done.stdout.startswith("web-")

    def inside(self, pod: str, command: str) -> tuple[int, str]:
        """Return the exit code and the output of a command in a pod."""
        done = subprocess.run(
            ["kubectl", "exec", pod, "--", "sh", "-c", command],
            env=self.environment, capture_output=True, text=True, timeout=180,
        )  # fmt: skip
        return done.returncode, done.stdout

    def prints(self, command: str, *expected: str) -> None:
        """Wait until a command prints all of this: a question by UDP may get lost."""
        until(lambda: all(text in self.inside("look", command)[1] for text in expected))

    def fetches(self, pod: str, *urls: str) -> bool:
        """Return whether a pod gets the page of each of these."""
        tries = " && ".join(f"timeout 3 wget -qO- http://{url}/" for url in urls)
        code, answer = self.inside(pod, tries)
        return code == 0 and answer.count("web-") == len(urls)

    def on_node(self, node: str, url: str) -> bool:
        """Return whether a node gets the page."""
        namespace = network.namespace(NAME, node)
        command = ["ip", "netns", "exec", namespace, "curl", "-s", "-m", "2", f"http://{url}/"]
        return subprocess.run(command, capture_output=True, text=True).stdout.startswith("web-")

    def use(self, mode: str, cni: str) -> None:
        """Have the cluster use a mode of kube-proxy and a network, which takes a restart if it used others."""
        if (self.setting("proxy_mode"), self.setting("cni")) == (mode, cni):
            return
        self.pyb("down", NAME)
        self.pyb("up", NAME, "--proxy-mode", mode, "--cni", cni, "--wait")

        # What the API says of the pods may be of the time before.
        def again() -> bool:
            self.look()
            return all(self.fetches(pod, address) for pod, address in self.addresses.items())

        until(again)
