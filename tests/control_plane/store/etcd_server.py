"""Starts real etcd processes on loopback for tests."""

import contextlib
import itertools
import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.support import require_program, until

READY = b"ready to serve client requests"
numbers = itertools.count(1)


def free_ports(count: int) -> list[int]:
    """Return ports that nobody uses at the moment."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for socket_ in sockets:
            socket_.bind(("127.0.0.1", 0))
        return [socket_.getsockname()[1] for socket_ in sockets]


@dataclass
class Member:
    """One etcd process; it can be stopped and started again with the same data."""

    directory: Path
    name: str
    client_port: int
    peer_port: int
    initial_cluster: str
    tls: dict[str, Path] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    more: Sequence[str] = ()

    @property
    def address(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.client_port}"

    def start(self, state: str = "new", token: str = "") -> None:
        """Start without waiting: a member of a cluster is ready only with the others."""
        peer = f"http://127.0.0.1:{self.peer_port}"
        arguments = [
            require_program("etcd"),
            *("--name", self.name, "--data-dir", str(self.directory / self.name)),
            *("--listen-client-urls", self.address, "--advertise-client-urls", self.address),
            *("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer),
            *(
                "--initial-cluster",
                self.initial_cluster,
                "--initial-cluster-token",
                token or str(self.directory),
            ),
            *("--initial-cluster-state", state, *self.more),
            *("--heartbeat-interval", "50", "--election-timeout", "500", "--unsafe-no-fsync"),
        ]
        if self.tls:
            arguments += ["--client-cert-auth", "--trusted-ca-file", str(self.tls["ca"])]
            arguments += ["--cert-file", str(self.tls["cert"]), "--key-file", str(self.tls["key"])]
        self.directory.mkdir(parents=True, exist_ok=True)
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                arguments, stdout=log, stderr=log, env={"PATH": os.environ["PATH"]}
            )

    @property
    def log(self) -> Path:
        return self.directory / f"{self.name}.log"

    def wait_until_ready(self, seconds: float = 60) -> None:
        """Trust only this process's own log: whatever answers on the port might be another etcd."""
        process = self.process
        assert process is not None

        def story() -> str:
            return f"etcd did not start:\n{self.log.read_text()[-2000:]}"

        def is_ready() -> bool:
            ended = process.poll() is not None
            ready = READY in self.log.read_bytes()
            assert ready or not ended, story()
            return ready

        until(is_ready, seconds, story=story)

    def kill(self) -> None:
        """End the process at once."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None


@contextlib.contextmanager
def etcd(
    directory: Path, count: int = 1, tls: dict[str, Path] | None = None, arguments: Sequence[str] = ()
) -> Iterator[list[Member]]:
    """Yield a cluster of so many members, ready to serve."""
    ports = free_ports(2 * count)
    names = [f"test-{os.getpid()}-{next(numbers)}" for _ in range(count)]
    cluster = ",".join(f"{name}=http://127.0.0.1:{ports[2 * i + 1]}" for i, name in enumerate(names))
    members = [
        Member(directory, name, ports[2 * i], ports[2 * i + 1], cluster, tls or {}, more=arguments)
        for i, name in enumerate(names)
    ]
    try:
        for member in members:
            member.start()
        for member in members:
            member.wait_until_ready()
        yield members
    finally:
        for member in members:
            member.kill()
