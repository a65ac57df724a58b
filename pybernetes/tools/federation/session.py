"""What a verb works with: its flags, the host cluster, and other clusters by their contexts."""

from __future__ import annotations

import argparse
import sys
from contextlib import AsyncExitStack
from typing import IO

from pybernetes.client import kubeconfig
from pybernetes.client.client import Client
from pybernetes.client.kubeconfig import Config
from pybernetes.control_plane.federation.kinds import NAMESPACE

_AGENT = "kubefedctl"


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that every verb has."""
    add = parser.add_argument
    add(
        "--kubeconfig",
        default="",
        metavar="FILE",
        help="Path to the kubeconfig file to use for CLI requests.",
    )
    add("--host-cluster-context", default="", metavar="CONTEXT", help="Host cluster context")
    add(
        "--kubefed-namespace",
        default=NAMESPACE,
        metavar="NAMESPACE",
        help="Namespace in the host cluster where the KubeFed system components are installed.",
    )
    add(
        "--dry-run",
        action="store_true",
        help="Run the command in dry-run mode, without making any server requests.",
    )
    add("-v", "--v", type=int, default=0, metavar="LEVEL", help="number for the log level verbosity")


class Session:
    """The clusters that a verb speaks to; closed at its end."""

    def __init__(self, arguments: argparse.Namespace, out: IO[str] | None = None) -> None:
        self.arguments = arguments
        self.namespace: str = arguments.kubefed_namespace
        self.dry_run: bool = arguments.dry_run
        self._out = out or sys.stdout
        self._stack = AsyncExitStack()
        self._host: Client | None = None

    def config(self, context: str) -> Config:
        """Return how a cluster is reached; ConfigError if there is no such context."""
        return kubeconfig.load(self.arguments.kubeconfig or None, context=context)

    async def client(self, config: Config) -> Client:
        """Return a client that is closed with the session."""
        return await self._stack.enter_async_context(config.client(user_agent=_AGENT))

    @property
    def host_context(self) -> str:
        """The name of the host's context."""
        return self.arguments.host_cluster_context or self.config("").context

    async def host(self) -> Client:
        """Return a client for the host cluster."""
        if self._host is None:
            self._host = await self.client(self.config(self.arguments.host_cluster_context))
        return self._host

    def say(self, text: str) -> None:
        """Print a line."""
        print(text, file=self._out, flush=True)

    def warn(self, text: str) -> None:
        """Print a line that is no result."""
        print(f"Warning: {text}", file=sys.stderr)

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._stack.aclose()
