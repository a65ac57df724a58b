"""port-forward: listens here and forwards every connection to a pod."""

from __future__ import annotations

import re
import socket
import threading

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.connection.client import path_of
from pybernetes.tools.kubectl.connection.streaming import Channels
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.resources.pods import named, pods_of

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Forward one or more local ports to a pod"
USAGE = "port-forward TYPE/NAME [options] [LOCAL_PORT:]REMOTE_PORT [...[LOCAL_PORT_N:]REMOTE_PORT_N]"
COMPLETION = "pods"
FLAGS = ("""
- address list localhost | addresses to listen on
- pod-running-timeout duration 1m0s | how long to wait until a pod runs
""",)  # fmt: skip


def run(context: Context) -> None:
    """Forward until interrupted."""
    flags = context.flags
    if len(context.args) < 2:
        raise context.usage("TYPE/NAME and list of ports are required for port-forward")
    info = named(context, context.args[0])
    pod = pods_of(context, info, flags.pod_running_timeout)[0]
    ports = [
        _ports(pair, info.object if info.resource.kind == "Service" else None, pod)
        for pair in context.args[1:]
    ]
    phase = (pod.get("status") or {}).get("phase")
    if phase != "Running":
        raise CommandError(f"unable to forward port because pod is not running. Current status={phase}")
    listening = []
    for local, remote in ports:
        opened = _listen(context, flags.address, local, remote)
        if not opened:
            raise CommandError(
                "unable to listen on any of the requested ports: [{" + f"{local} {remote}" + "}]"
            )
        listening += opened
    context.stdout.flush()
    threads = [
        threading.Thread(target=_serve, args=(context, server, pod, remote), daemon=True)
        for server, remote in listening
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        return


def _ports(text: str, service: Object | None, pod: Object) -> tuple[int, int]:
    """Return the local port and the port in the pod; names and service ports are looked up."""
    local, colon, remote = text.partition(":")
    if not colon:
        local = remote = text
    if not remote:
        raise CommandError("remote port cannot be empty")
    number = _remote(remote, service, pod)
    if not colon and not text.isdigit():
        return number, number
    if local and not re.fullmatch(r"\d+", local):
        raise CommandError(
            f'error parsing local port "{local}": strconv.ParseUint: parsing "{local}": invalid syntax'
        )
    for which, given in (("local", int(local or 0)), ("remote", number)):
        if given > 65535:
            raise CommandError(
                f"error parsing {which} port '{given}': strconv.ParseUint: parsing \"{given}\": value out of range"
            )
    return int(local or 0), number


def _remote(text: str, service: Object | None, pod: Object) -> int:
    if service is not None:
        for port in (service.get("spec") or {}).get("ports") or ():
            if text == str(port.get("port")) or text == port.get("name"):
                target = port.get("targetPort") or port["port"]
                if (service.get("spec") or {}).get("clusterIP") == "None":
                    target = port["port"]
                return _remote(str(target), None, pod)
        raise CommandError(f"Service {service['metadata']['name']} does not have a service port {text}")
    if text.isdigit():
        return int(text)
    for container in (pod.get("spec") or {}).get("containers") or ():
        for port in container.get("ports") or ():
            if port.get("name") == text:
                return int(port["containerPort"])
    raise CommandError(f"Pod '{pod['metadata']['name']}' does not have a named port '{text}'")


def _listen(
    context: Context, addresses: list[str], local: int, remote: int
) -> list[tuple[socket.socket, int]]:
    listeners = []
    for address in addresses:
        families = [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")] if address == "localhost" else [
            (socket.AF_INET6 if ":" in address else socket.AF_INET, address)
        ]  # fmt: skip
        for family, host in families:
            server = socket.socket(family, socket.SOCK_STREAM)
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                server.bind((host, local))
                server.listen()
            except OSError as error:
                server.close()
                if family == socket.AF_INET or address != "localhost":
                    context.warn(
                        f"Unable to listen on port {local}: {(error.strerror or str(error)).lower()}"
                    )
                continue
            local = server.getsockname()[1]
            shown = f"[{host}]" if ":" in host else host
            context.out(f"Forwarding from {shown}:{local} -> {remote}")
            listeners.append((server, remote))
    return listeners


def _serve(context: Context, server: socket.socket, pod: Object, remote: int) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        context.out(f"Handling connection for {server.getsockname()[1]}")
        context.stdout.flush()
        threading.Thread(target=_forward, args=(context, connection, pod, remote), daemon=True).start()


def _forward(context: Context, connection: socket.socket, pod: Object, remote: int) -> None:
    metadata = pod["metadata"]
    path = path_of(context.discovery.find("pods"), metadata["namespace"], metadata["name"], "portforward")
    try:
        channels = Channels(context, path, {"ports": remote}, ("v4.channel.k8s.io",))
    except (CommandError, OSError) as error:
        context.warn(f"an error occurred forwarding {connection.getsockname()[1]} -> {remote}: {error}")
        connection.close()
        return

    sending = threading.Event()  # set when nothing more is written to the connection

    def outwards() -> None:
        try:
            while data := connection.recv(65536):
                channels.send(0, data)
        except OSError:
            pass
        channels.finish()
        sending.wait()
        connection.close()

    threading.Thread(target=outwards, daemon=True).start()
    announced: set[int] = set()
    try:
        while (message := channels.receive()) is not None:
            channel, data = message
            if channel not in announced:  # each channel begins with the number of the port
                announced.add(channel)
                data = data[2:]
            if channel == 1 and data:
                text = data.decode("utf-8", "replace").strip()
                context.warn(
                    f"an error occurred forwarding {connection.getsockname()[1]} -> {remote}: {text}"
                )
                break
            if data:
                connection.sendall(data)
    except OSError:
        pass
    channels.close()
    try:
        connection.shutdown(socket.SHUT_RDWR)  # wakes the thread above, which closes it
    except OSError:
        pass
    sending.set()
