"""Does the few things on the host that the control plane of a local cluster needs and may not do itself.

The control plane is an ordinary user's process. This one is root's, knows nothing of Kubernetes and parses nothing but
questions of one line: a socket in a node's network namespace on its way to a pod or a service, load balancers, routes,
which nodes there are, and the folders of volumes, in which containers leave files of all kinds of users. Every question is held
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
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pybernetes.lib.files import opening, trees
from pybernetes.lib.network.network_namespace import socket_in
from pybernetes.tools.local.network.host_balancers import HostBalancers
from pybernetes.tools.local.network.host_routes import HostRoutes

MOST_BYTES = 32768  # of a question or an answer
_AT_ONCE = 64
_PATIENCE = 10.0


class Refused(Exception):
    """A question for something that the cluster does not need."""


class HostHelper:
    """Answers the control plane.

    ``namespace`` is the file of a node's network namespace at the moment, if there is any; ``instance`` says what is known of
    a node. Without ``balancers`` or ``routes`` there are none.
    """

    def __init__(
        self,
        namespace: Callable[[], Path | None],
        dialled: str,
        volumes: Path,
        balancers: HostBalancers | None = None,
        instance: Callable[[str], dict[str, Any] | None] = lambda name: None,
        routes: HostRoutes | None = None,
        process: Callable[[str], dict[str, Any] | None] = lambda name: None,
    ) -> None:
        self._find_process = process
        self._namespace, self._volumes, self._balancers, self._routes = namespace, volumes, balancers, routes
        self._find_instance = instance
        self._dialled = [ipaddress.ip_network(text) for text in dialled.split(",") if text]
        self._places = threading.BoundedSemaphore(_AT_ONCE)
        self._questions: dict[str, Callable[[dict[str, Any]], object]] = {
            "socket": self._socket, "instance": self._instance, "balancers": self._list, "balancer": self._balancer,
            "balance": self._balance, "unbalance": self._unbalance, "make-volume": self._make_volume, "remove-volume": self._remove_volume,
            "process": self._process, "routes": self._list_routes, "route": self._route, "unroute": self._unroute,
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
        kind = socket.SOCK_DGRAM if asked.get("datagram") is True else socket.SOCK_STREAM
        made = socket_in(namespace, socket.AF_INET6 if address.version == 6 else socket.AF_INET, kind)
        try:
            made.connect((str(address), port))
        except BlockingIOError:
            pass  # on its way; whoever asked waits for the end
        except (OSError, OverflowError):
            made.close()
            raise
        return made

    def _instance(self, asked: dict[str, Any]) -> object:
        return {"instance": self._find_instance(_text(asked["name"]))}

    def _process(self, asked: dict[str, Any]) -> object:
        return {"process": self._find_process(_text(asked["name"]))}

    @property
    def _own_balancers(self) -> HostBalancers:
        if self._balancers is None:
            raise Refused("this cluster has no load balancers on the host")
        return self._balancers

    def _list(self, asked: dict[str, Any]) -> object:
        return {"addresses": [balancer["address"] for balancer in self._own_balancers.all()]}

    def _balancer(self, asked: dict[str, Any]) -> object:
        for balancer in self._own_balancers.all():
            if balancer["address"] == asked["address"]:
                return {"balancer": balancer}
        raise Refused("there is no such load balancer")

    def _balance(self, asked: dict[str, Any]) -> object:
        self._own_balancers.change(asked)
        return {}

    def _unbalance(self, asked: dict[str, Any]) -> object:
        self._own_balancers.remove(_text(asked["address"]))
        return {}

    @property
    def _own_routes(self) -> HostRoutes:
        if self._routes is None:
            raise Refused("the cloud of this cluster has no routes")
        return self._routes

    def _list_routes(self, asked: dict[str, Any]) -> object:
        return {"routes": self._own_routes.all()}

    def _route(self, asked: dict[str, Any]) -> object:
        self._own_routes.add(asked)
        return {}

    def _unroute(self, asked: dict[str, Any]) -> object:
        self._own_routes.remove(asked)
        return {}

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
