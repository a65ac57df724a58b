"""port-forward: listens here and forwards every connection to a pod."""

from __future__ import annotations

import re
import socket
import threading

from pybernetes.tools.kubectl import TYPE_CHECKING, log
from pybernetes.tools.kubectl.connection.client import path_of
from pybernetes.tools.kubectl.connection.streaming import Channels
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, quoted
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
    addresses = _addresses(flags.address)
    info = named(context, context.args[0])
    pod = pods_of(context, info, flags.pod_running_timeout, attaching=True)[0]
    _refuse_udp(info.object if info.resource.kind == "Service" else pod, context.args[1:])
    ports = [
        _ports(pair, info.object if info.resource.kind == "Service" else None, pod)
        for pair in context.args[1:]
    ]
    phase = (pod.get("status") or {}).get("phase")
    if phase != "Running":
        raise CommandError(f"unable to forward port because pod is not running. Current status={phase}")
    listening = []
    for local, remote in ports:
        opened = _listen(context, addresses, local, remote)
        if not opened:
            raise CommandError(
                "unable to listen on any of the requested ports: [{" + f"{local} {remote}" + "}]"
            )
        listening += opened
    context.stdout.flush()
    lost = threading.Event()
    for server, remote in listening:
        threading.Thread(target=_serve, args=(context, server, pod, remote, lost), daemon=True).start()
    try:
        lost.wait()
    except KeyboardInterrupt:
        return
    raise CommandError("lost connection to pod")


def _addresses(texts: list[str]) -> list[str]:
    """Return the addresses to listen on, in the original's order; refuse what is none."""
    import ipaddress

    for text in texts:
        if text != "localhost":
            try:
                ipaddress.ip_address(text)
            except ValueError:
                raise CommandError(f"{text} is not a valid IP") from None
    return sorted(set(texts))


def _refuse_udp(value: Object, pairs: list[str]) -> None:
    """Refuse ports of a service or a pod that are there for UDP alone."""
    spec = value.get("spec") or {}
    holders = spec.get("containers") or [spec]
    listed = [port for holder in holders for port in holder.get("ports") or ()]
    protocols: dict[str, set[str]] = {}
    for port in listed:
        for name in (str(port.get("containerPort") or port.get("port")), port.get("name")):
            if name:
                protocols.setdefault(name, set()).add(port.get("protocol") or "TCP")
    for pair in pairs:
        remote = pair.partition(":")[2] if pair.count(":") == 1 else pair.partition(":")[0]
        if protocols.get(remote) == {"UDP"}:
            raise CommandError(f"UDP protocol is not supported for {remote}")


def _ports(text: str, service: Object | None, pod: Object) -> tuple[int, int]:
    """Return the local port and the port in the pod; names and service ports are looked up."""
    local, colon, remote = text.partition(":")
    if not colon:
        local = remote = text
    number = _remote(remote, service, pod)
    if not colon and not text.isdigit():
        return number, number
    if local and not re.fullmatch(r"\d+", local):
        raise CommandError(
            f"error parsing local port '{local}': strconv.ParseUint: parsing \"{local}\": invalid syntax"
        )
    for which, given in (("local", int(local or 0)), ("remote", number)):
        if given > 65535:
            raise CommandError(
                f"error parsing {which} port '{given}': strconv.ParseUint: parsing \"{given}\": value out of range"
            )
    if not number:
        raise CommandError("remote port must be > 0")
    return int(local or 0), number


def _remote(text: str, service: Object | None, pod: Object) -> int:
    if service is not None:
        for port in (service.get("spec") or {}).get("ports") or ():
            if text == str(port.get("port")) or text == port.get("name"):
                target = port.get("targetPort") or port["port"]
                if (service.get("spec") or {}).get("clusterIP") == "None":
                    target = port["port"]
                return _remote(str(target), None, pod)
        name = service["metadata"]["name"]
        if not text.isdigit():
            raise CommandError(f"Service '{name}' does not have a named port '{text}'")
        raise CommandError(f"Service {name} does not have a service port {text}")
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
                    shown = f"[{host}]" if ":" in host else host
                    kind = "tcp6" if family == socket.AF_INET6 else "tcp4"
                    why = f"listen {kind} {shown}:{local}: bind: {(error.strerror or str(error)).lower()}"
                    context.warn(
                        f"Unable to listen on port {local}: Listeners failed to create with the following errors: "
                        f"[unable to create listener: Error {why}]"
                    )
                continue
            local = server.getsockname()[1]
            shown = f"[{host}]" if ":" in host else host
            context.out(f"Forwarding from {shown}:{local} -> {remote}")
            listeners.append((server, remote))
    return listeners


def _serve(context: Context, server: socket.socket, pod: Object, remote: int, lost: threading.Event) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        context.out(f"Handling connection for {server.getsockname()[1]}")
        context.stdout.flush()
        threading.Thread(target=_forward, args=(context, connection, pod, remote, lost), daemon=True).start()


def _failed(connection: socket.socket, remote: int, why: str, lost: threading.Event) -> None:
    """Say why a connection was not forwarded; the original ends then, and so do we."""
    local = connection.getsockname()[1]
    text = f'"An error occurred forwarding" err={quoted(why)} localPort={local} remotePort={remote}'
    log.line("portforward.go:549", text, 0, "E")
    lost.set()


def _forward(
    context: Context, connection: socket.socket, pod: Object, remote: int, lost: threading.Event
) -> None:
    metadata = pod["metadata"]
    path = path_of(context.discovery.find("pods"), metadata["namespace"], metadata["name"], "portforward")
    try:
        channels = Channels(context, path, {"ports": remote}, ("v4.channel.k8s.io",))
    except (CommandError, OSError) as error:
        _failed(connection, remote, str(error), lost)
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
                _failed(connection, remote, text, lost)
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
