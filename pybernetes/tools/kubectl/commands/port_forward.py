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
from pybernetes.tools.kubectl.resources.built_in import CLIENT_SCHEME, built_in
from pybernetes.tools.kubectl.resources.pods import named, pods_of

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Forward one or more local ports to a pod"
USAGE = "port-forward TYPE/NAME [options] [LOCAL_PORT:]REMOTE_PORT [...[LOCAL_PORT_N:]REMOTE_PORT_N]"
COMPLETION = "pods ports"
FLAGS = ("""
- address list localhost | addresses to listen on
- pod-running-timeout duration 1m0s | how long to wait until a pod runs
""",)  # fmt: skip
_TUNNEL = "SPDY/3.1+portforward.k8s.io"


def run(context: Context) -> None:
    """Forward until interrupted."""
    flags = context.flags
    if len(context.args) < 2:
        raise context.usage("TYPE/NAME and list of ports are required for port-forward")
    if flags.pod_running_timeout <= 0:
        raise context.usage("--pod-running-timeout must be higher than zero")
    info = named(context, context.args[0], scheme=CLIENT_SCHEME)
    pod = pods_of(context, info, flags.pod_running_timeout, attaching=True)[0]
    service = info.object if info.resource.kind == "Service" else None
    _refuse_udp(service or pod, context.args[1:])
    pairs = [_numbers(pair, service, pod) for pair in context.args[1:]]
    phase = (pod.get("status") or {}).get("phase")
    if phase != "Running":
        raise CommandError(f"unable to forward port because pod is not running. Current status={phase}")
    addresses = _addresses(flags.address)
    ports = [_checked(*pair) for pair in pairs]
    lost = threading.Event()
    _watch(context, pod, lost)
    listening = []
    for local, remote in ports:
        listening += _listen(context, addresses, local, remote)
    if not listening:
        shown = " ".join(f"{{{local} {remote}}}" for local, remote in ports)
        raise CommandError(f"unable to listen on any of the requested ports: [{shown}]")
    context.stdout.flush()
    for server, remote in listening:
        threading.Thread(target=_serve, args=(context, server, pod, remote, lost), daemon=True).start()
    try:
        lost.wait()
    except KeyboardInterrupt:
        return
    raise CommandError("lost connection to pod")


def _path(pod: Object) -> str:
    return path_of(built_in("Pod"), pod["metadata"]["namespace"], pod["metadata"]["name"], "portforward")


def _watch(context: Context, pod: Object, lost: threading.Event) -> None:
    """Connect to the pod before anybody wants to, so that it is known whether one can, and until when."""
    try:
        channels = Channels(context, _path(pod), {}, (_TUNNEL,))
    except CommandError as error:
        raise CommandError(f"error upgrading connection: {error.message}") from None

    def until_it_ends() -> None:
        while channels.receive() is not None:
            pass
        lost.set()

    threading.Thread(target=until_it_ends, daemon=True).start()


def _addresses(texts: list[str]) -> list[tuple[str, bool]]:
    """Return the addresses to listen on, in the original's order, and whether another will do; refuse what is none."""
    import ipaddress

    if not texts:
        raise CommandError("you must specify at least 1 address")
    chosen: dict[str, bool] = {}
    for text in texts:
        if text == "localhost":
            chosen = {"127.0.0.1": True, "::1": True} | chosen
            continue
        try:
            ipaddress.ip_address(text)
        except ValueError:
            raise CommandError(f"{text} is not a valid IP") from None
        chosen[text] = False
    return sorted(chosen.items())


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
        remote = _split(pair)[1]
        if protocols.get(remote) == {"UDP"}:
            raise CommandError(f"UDP protocol is not supported for {remote}")


def _split(text: str) -> tuple[str, str]:
    """Return the local and the remote port of a pair; more than a pair counts as its first part."""
    parts = text.split(":")
    return (parts[0], parts[1]) if len(parts) == 2 else (parts[0], parts[0])


def _numbers(text: str, service: Object | None, pod: Object) -> tuple[str, int]:
    """Return the local port as it is written, and the port in the pod; names and service ports are looked up."""
    local, remote = _split(text)
    if not remote:
        raise CommandError("remote port cannot be empty")
    if service is not None:
        port = _service_port(service, remote)
        target = port.get("targetPort") or port["port"]
        if (service.get("spec") or {}).get("clusterIP") == "None":
            target = port["port"]
        return str(port["port"]) if local == remote else local, _in_pod(str(target), pod)
    number = _in_pod(remote, pod)
    return str(number) if local == remote else local, number


def _checked(local: str, number: int) -> tuple[int, int]:
    """Return a local port and one in the pod; refuse what is no port."""
    if local and not re.fullmatch(r"\d+", local):
        raise CommandError(
            f"error parsing local port '{local}': strconv.ParseUint: parsing {quoted(local)}: invalid syntax"
        )
    for which, given in (("local", int(local or 0)), ("remote", number)):
        if given > 65535:
            raise CommandError(
                f"error parsing {which} port '{given}': strconv.ParseUint: parsing \"{given}\": value out of range"
            )
    if not number:
        raise CommandError("remote port must be > 0")
    return int(local or 0), number


def _service_port(service: Object, text: str) -> Object:
    for port in (service.get("spec") or {}).get("ports") or ():
        if text in (str(port.get("port")), port.get("name")):
            return port
    name = service["metadata"]["name"]
    if not text.isdigit():
        raise CommandError(f"Service '{name}' does not have a named port '{text}'")
    raise CommandError(f"Service {name} does not have a service port {text}")


def _in_pod(text: str, pod: Object) -> int:
    if text.isdigit():
        return int(text)
    for container in (pod.get("spec") or {}).get("containers") or ():
        for port in container.get("ports") or ():
            if port.get("name") == text:
                return int(port["containerPort"])
    raise CommandError(f"Pod '{pod['metadata']['name']}' does not have a named port '{text}'")


def _listen(
    context: Context, addresses: list[tuple[str, bool]], local: int, remote: int
) -> list[tuple[socket.socket, int]]:
    """Listen on a port of all addresses; tell if one fails, unless it is one of localhost's and the other does not."""
    listeners, problems, needed = [], [], False
    localhost = [0, 0]  # how many of its addresses failed, and how many did not
    for host, another in addresses:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        shown = f"[{host}]" if ":" in host else host
        server = socket.socket(family, socket.SOCK_STREAM)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            server.bind((host, local))
            server.listen()
        except OSError as error:
            server.close()
            kind = "tcp6" if family == socket.AF_INET6 else "tcp4"
            why = f"listen {kind} {shown}:{local}: bind: {(error.strerror or str(error)).lower()}"
            problems.append(f"unable to create listener: Error {why}")
            localhost[0] += another
            needed = needed or not another
            continue
        localhost[1] += another
        local = server.getsockname()[1]
        context.out(f"Forwarding from {shown}:{local} -> {remote}")
        listeners.append((server, remote))
    if needed or (localhost[0] and not localhost[1]):
        listed = f"Listeners failed to create with the following errors: [{' '.join(problems)}]"
        context.warn(f"Unable to listen on port {local}: {listed}")
        return []  # as the original counts it; those that listen end with the program
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
    text = f'"An error occurred forwarding" err={log.quoted_value(why)} localPort={local} remotePort={remote}'
    log.line("portforward.go:549", text, 0, "E")
    lost.set()


def _forward(
    context: Context, connection: socket.socket, pod: Object, remote: int, lost: threading.Event
) -> None:
    try:
        channels = Channels(context, _path(pod), {"ports": remote}, ("v4.channel.k8s.io",))
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
                text = data.decode("utf-8", "replace")
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
