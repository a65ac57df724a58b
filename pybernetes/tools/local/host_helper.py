"""Does the few things on the host that the control plane of a local cluster needs and may not do itself.

The control plane is an ordinary user's process. This one is root's, knows nothing of Kubernetes and parses nothing but
questions of one line: a socket in a node's network namespace on its way to a pod or a service, the routes of load
balancers, and the folders of volumes, in which containers leave files of all kinds of users. Every question is held
against the cluster's settings.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import json
import os
import socket
import struct
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pybernetes.lib.files import opening, trees
from pybernetes.lib.network_namespace import socket_in

MOST_BYTES = 8192  # of a question or an answer
_AT_ONCE = 64
_PATIENCE = 10.0
ROUTE_PROTOCOL = "80"  # marks the routes as ours


class Refused(Exception):
    """A question for something that the cluster does not need."""


class HostHelper:
    """Answers the control plane. ``namespace`` is the file of a node's network namespace at the moment, if there is any."""

    def __init__(
        self, namespace: Callable[[], Path | None], dialled: str, routed: str, bridge: str, volumes: Path
    ) -> None:
        self._namespace, self._bridge, self._volumes = namespace, bridge, volumes
        self._dialled = [ipaddress.ip_network(text) for text in dialled.split(",") if text]
        self._routed = ipaddress.ip_network(routed)
        self._places = threading.BoundedSemaphore(_AT_ONCE)
        self._questions: dict[str, Callable[[dict[str, Any]], object]] = {
            "socket": self._socket, "routes": self._routes, "route": self._route,
            "make-volume": self._make_volume, "remove-volume": self._remove_volume,
        }  # fmt: skip

    def serve(self, path: Path, user: int) -> None:
        """Answer until the process ends; only root and the control plane's user may ask, as the kernel says who does."""
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(str(path))
            path.chmod(0o666)
            listener.listen(_AT_ONCE)
            while True:
                connection, _ = listener.accept()
                credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
                if struct.unpack("iII", credentials)[1] not in (0, user):
                    connection.close()
                    continue
                self._places.acquire()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        try:
            with connection:
                connection.settimeout(_PATIENCE)
                answer = self.answer(connection.recv(MOST_BYTES))
                if isinstance(answer, socket.socket):
                    with answer:
                        socket.send_fds(connection, [b"{}"], [answer.fileno()])
                else:
                    connection.send(json.dumps(answer).encode())
        except OSError:
            pass  # it did not wait
        finally:
            self._places.release()

    def answer(self, question: bytes) -> object:
        """Return what is to be answered: a socket, or what becomes JSON; an error has a text and a number."""
        try:
            asked = json.loads(question)
            return self._questions[asked["do"]](asked)
        except OSError as error:
            return {"error": str(error), "errno": error.errno or errno.EIO}
        except (Refused, ValueError, KeyError, TypeError, RecursionError) as error:
            return {"error": f"refused: {error!r}", "errno": errno.EPERM}

    def _socket(self, asked: dict[str, Any]) -> object:
        address, port = ipaddress.ip_address(_text(asked["host"])), asked["port"]
        if not any(address in network for network in self._dialled) or not isinstance(port, int):
            raise Refused(f"{address} is no address of the cluster")
        namespace = self._namespace()
        if namespace is None:
            return {}
        made = socket_in(namespace, socket.AF_INET6 if address.version == 6 else socket.AF_INET)
        try:
            made.connect((str(address), port))
        except BlockingIOError:
            pass  # on its way; whoever asked waits for the end
        except (OSError, OverflowError):
            made.close()
            raise
        return made

    def _routes(self, asked: dict[str, Any]) -> object:
        text = _run("ip", "-json", "route", "show", "dev", self._bridge, "proto", ROUTE_PROTOCOL)
        return {"routes": {route["dst"]: route.get("gateway", "") for route in json.loads(text or "[]")}}

    def _route(self, asked: dict[str, Any]) -> object:
        address = self._on_bridge(asked["address"])
        if asked["node"]:
            node = self._on_bridge(asked["node"])
            _run("ip", "route", "replace", address, "via", node, "dev", self._bridge, "proto", ROUTE_PROTOCOL)
        else:
            _run("ip", "route", "delete", address, "dev", self._bridge, "proto", ROUTE_PROTOCOL)
        return {}

    def _on_bridge(self, text: object) -> str:
        address = ipaddress.ip_address(_text(text))
        if not self._bridge or address not in self._routed:
            raise Refused(f"{address} is not on the cluster's bridge")
        return str(address)

    def _make_volume(self, asked: dict[str, Any]) -> object:
        name = _volume(asked["name"])
        self._volumes.mkdir(mode=0o711, parents=True, exist_ok=True)
        with opening.folder(self._volumes) as directory:
            # Whoever runs in the container is to write there.
            os.close(opening.make_folders(directory, name, 0o777))
        return {}

    def _remove_volume(self, asked: dict[str, Any]) -> object:
        trees.remove_path(self._volumes / _volume(asked["name"]))
        return {}


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise Refused("an address is a text")
    return value


def _volume(name: object) -> str:
    if not isinstance(name, str) or not name.startswith("pvc-") or "/" in name or "\0" in name:
        raise Refused(f"{name!r} is no volume")
    return name


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    if done.returncode:
        raise OSError(errno.EIO, f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout
