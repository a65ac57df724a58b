"""Kubelets that only say what is used: one port each, all in one process.

    python -m bench.harness.kubelet_answers DIRECTORY NODES PODS

Prints the ports as one line of JSON, then answers until its input ends.
"""

import asyncio
import json
import sys
import time
from pathlib import Path

from pybernetes.lib.http.messages import TEXT, Request, Response
from pybernetes.lib.http.server import Server
from pybernetes.lib.tls import tls

FAMILIES = (
    ("container_cpu_usage_seconds_total", "{cpu:.6f} {moment}"),
    ("container_memory_working_set_bytes", "{memory} {moment}"),
    ("container_start_time_seconds", "{start:.9e}"),
    ("container_swap_usage_bytes", "0 {moment}"),
)
POD_FAMILIES = (
    ("pod_cpu_usage_seconds_total", "{cpu:.6f} {moment}"),
    ("pod_memory_working_set_bytes", "{memory} {moment}"),
    ("pod_swap_usage_bytes", "0 {moment}"),
)


NAMESPACE = "bench"


def pod_name(node: int, pod: int) -> str:
    """Return the name of a pod of a node."""
    return f"application-{node}-{pod}-7d4b9c6f5-abcde"


def body(node: int, pods: int, now: float) -> bytes:
    """Return what the kubelet of a node with so many pods answers."""
    values = {
        "cpu": now - 1_700_000_000, "memory": 123_456_789, "start": 1_700_000_000.0, "moment": int(now * 1000)
    }  # fmt: skip
    lines = []
    for families, container in ((FAMILIES, 'container="main",'), (POD_FAMILIES, "")):
        for name, form in families:
            value = form.format(**values)
            lines.append(f"# HELP {name} [STABLE] What was measured\n# TYPE {name} gauge")
            lines += [
                f'{name}{{{container}namespace="{NAMESPACE}",pod="{pod_name(node, pod)}"}} {value}'
                for pod in range(pods)
            ]
    lines.append("node_cpu_usage_seconds_total {cpu:.6f} {moment}".format(**values))
    lines.append("node_memory_working_set_bytes {memory} {moment}".format(**values))
    return ("\n".join(lines) + "\n").encode()


async def main(directory: Path, nodes: int, pods: int) -> None:
    """Answer until the input ends."""
    certificate, key, _ = tls.ensure_serving(directory, ["127.0.0.1"])
    context = tls.server_context(certificate, key)
    servers, ports = [], []
    for number in range(nodes):

        async def answer(request: Request, number: int = number) -> Response:
            return Response(body(number, pods, time.time()), 200, TEXT)

        servers.append(Server(answer))
        ports.append(await servers[-1].start("127.0.0.1", 0, context))
    print(json.dumps(ports), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for server in servers:
        await server.stop()


if __name__ == "__main__":
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
