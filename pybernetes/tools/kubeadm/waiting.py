"""Waits until parts of a control plane answer."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.lib.http.client import HttpClient, Peer, RequestFailed
from pybernetes.lib.tls import tls
from pybernetes.tools.kubeadm import arguments, kubelet_service
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.locations import CONTROLLER_MANAGER_PORT, SCHEDULER_PORT

_LOOK_SECONDS = 0.1
_ANSWER_SECONDS = 5.0


def go_duration(seconds: float) -> str:
    """Return a duration as Go prints it."""
    if seconds < 1:
        return f"{seconds * 1000:.6g}ms"
    whole, rest = divmod(seconds, 60)
    minutes = f"{int(whole)}m" if whole else ""
    return f"{minutes}{rest:.9g}s"


async def for_kubelet(host: str, port: int, seconds: float, root: Path) -> None:
    """Wait until the kubelet says that it is healthy."""
    url = f"http://{host}:{port}/healthz"
    print(
        f"[kubelet-check] Waiting for a healthy kubelet at {url}. This can take up to {_text(seconds)}",
        flush=True,
    )
    begun = asyncio.get_running_loop().time()
    problem = await _until(Peer(host, port, None), "/healthz", seconds)
    if problem:
        raise KubeadmError(
            f"failed while waiting for the kubelet to start: the HTTP call equal to 'curl -sSL {url}' returned error: "
            f"{problem}\n\nThis error is likely caused by the kubelet: it may not run, or be unhealthy because of its "
            f"configuration. Its own words:\n\t{kubelet_service.log_hint(root)}"
        )
    print(
        f"[kubelet-check] The kubelet is healthy after {go_duration(asyncio.get_running_loop().time() - begun)}",
        flush=True,
    )


def _text(seconds: float) -> str:
    return f"{int(seconds // 60)}m{int(seconds % 60)}s"


def endpoints(cluster: Object, address: str, port: int) -> dict[str, tuple[str, int, str]]:
    """Return where the parts of a control plane say how they are: host, port and path."""

    def host(field: str) -> str:
        given = arguments.value(cluster[field].get("extraArgs"), "bind-address") or "127.0.0.1"
        return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(given, given)

    return {
        "kube-apiserver": (address, port, "/livez"),
        "kube-controller-manager": (host("controllerManager"), CONTROLLER_MANAGER_PORT, "/healthz"),
        "kube-scheduler": (host("scheduler"), SCHEDULER_PORT, "/livez"),
    }


async def for_control_plane(parts: dict[str, tuple[str, int, str]], seconds: float, root: Path) -> None:
    """Wait until all parts of a control plane are healthy."""
    print(
        f"[control-plane-check] Waiting for healthy control plane components. This can take up to {_text(seconds)}"
    )
    for name, (host, port, path) in parts.items():
        print(f"[control-plane-check] Checking {name} at https://{host}:{port}{path}", flush=True)

    async def check(name: str, host: str, port: int, path: str) -> str:
        begun = asyncio.get_running_loop().time()
        # Its certificate is its own or not known here: nothing secret is said or believed.
        context = tls.client_context(verify=False)
        problem = await _until(Peer(host, port, context), path, seconds)
        if problem:
            return f"{name} check failed at https://{host}:{port}{path}: {problem}"
        after = go_duration(asyncio.get_running_loop().time() - begun)
        print(f"[control-plane-check] {name} is healthy after {after}", flush=True)
        return ""

    problems = await asyncio.gather(*(check(name, *where) for name, where in parts.items()))
    failed = [problem for problem in problems if problem]
    if failed:
        raise KubeadmError(
            f"failed while waiting for the control plane to start: {', '.join(failed)}\n\nA control plane component may have "
            "crashed or exited when started by the container runtime. Its logs are below /var/log/pods, and the kubelet's own "
            f"words:\n\t{kubelet_service.log_hint(root)}"
        )


async def _until(peer: Peer, path: str, seconds: float) -> str:
    """Ask until the answer is 200; return why it never was, empty if it was."""
    client = HttpClient()
    deadline = asyncio.get_running_loop().time() + seconds
    problem = "context deadline exceeded"
    try:
        while asyncio.get_running_loop().time() < deadline:
            try:
                reply = await client.send(peer, "GET", path, b"", {}, _ANSWER_SECONDS)
                if reply.status == 200:
                    return ""
                problem = f"received unexpected HTTP status: {reply.status}"
            except RequestFailed as error:
                problem = str(error)
            await asyncio.sleep(_LOOK_SECONDS)
        return problem
    finally:
        client.close()
