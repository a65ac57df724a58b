"""kube-proxy of a local cluster's node, in the same process as its kubelet."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import NoReturn

from pybernetes.api.resource import Object
from pybernetes.client import kubeconfig
from pybernetes.node.proxy import flags, proxy_server
from pybernetes.tools.local import command_lines
from pybernetes.tools.local.nodes.node import Node
from pybernetes.tools.local.settings import Settings, SettingsError

IDENTITY = "kube-proxy"
# What would have it run with something else than the cluster's settings, or not run at all.
_NOT_HERE = {
    "config": "config", "master": "master", "write_config_to": "write-config-to", "cleanup": "cleanup",
    "init_only": "init-only", "hostname_override": "hostname-override", "field_mode": "proxy-mode",
    "field_clientConnection.kubeconfig": "kubeconfig",
}  # fmt: skip


def configuration(settings: Settings, node: str) -> Object:
    """Return the KubeProxyConfiguration of a node; SettingsError if the user's arguments are not kube-proxy's."""
    for argument in settings.proxy_arguments:
        if not isinstance(argument, str):
            _refuse(f"{argument!r} is not a text")
    parser = flags.parser()
    parser.error = _refuse  # type: ignore[method-assign]
    arguments = parser.parse_args(command_lines.kube_proxy(settings, node))
    usual = parser.parse_args(command_lines.kube_proxy(replace(settings, proxy_arguments=[]), node))
    for name in _NOT_HERE:
        if getattr(arguments, name) != getattr(usual, name):
            _refuse(f"--{_NOT_HERE[name]} is the cluster's own")
    try:
        return flags.configuration(arguments)
    except ValueError as error:
        _refuse(str(error))


def _refuse(message: str) -> NoReturn:
    raise SettingsError(f"kubeProxyArguments: {message}")


async def run(node: Node, settings: Settings, stop: asyncio.Event, joined: asyncio.Event) -> None:
    """Run until the node stops, from when it has joined the pod network: rules lead nowhere without routes to pods.

    On the host's own network no rule is left behind.
    """
    client = kubeconfig.load(node.identity(IDENTITY)).client(user_agent="kube-proxy")

    async def serve() -> None:
        await joined.wait()
        made = configuration(settings, node.name)
        await proxy_server.run(client, made, node.name, service_ranges=settings.service_ranges)

    work = asyncio.ensure_future(serve())
    waiting = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait((work, waiting), return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            work.result()
    finally:
        for task in (work, waiting):
            task.cancel()
        await asyncio.gather(work, waiting, return_exceptions=True)
        await client.close()
        if settings.host_network and stop.is_set():
            await proxy_server.cleanup()
