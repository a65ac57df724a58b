"""How a program that is an API server behind the API server runs."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pybernetes.cmd import _secure_serving
from pybernetes.cmd._program import stop_event
from pybernetes.lib.flags import Flag

if TYPE_CHECKING:
    import ssl

    from pybernetes.client.client import Client
    from pybernetes.runtime.delegated_auth import DelegatedAuth

LOOKUP = (
    Flag("authentication-skip-lookup", False, "trust whom the flags say, and do not ask the cluster for more"),
    Flag("authentication-tolerate-lookup-failure", False, "go on without what the cluster says, if it cannot be had"),
)  # fmt: skip


class AggregatedProgram(Protocol):
    """What such a program runs."""

    async def start(self, host: str, port: int, context: ssl.SSLContext) -> int: ...

    async def stop(self) -> None: ...


def refuse(options: argparse.Namespace, flags: Iterable[Flag]) -> None:
    """Raise ValueError for a flag that is there only to be refused by its name."""
    for flag in flags:
        if getattr(options, flag.attribute) != flag.default:
            raise ValueError(f"--{flag.name} is not supported: {flag.help}")


async def serve_aggregated(
    options: argparse.Namespace, name: str, client: Client, make: Callable[[DelegatedAuth], AggregatedProgram]
) -> int:
    """Serve until told to stop, to those whom the cluster says to trust unless flags say it."""
    from pybernetes.client.errors import StatusError
    from pybernetes.lib.memory import gc_tuning
    from pybernetes.runtime import secure_serving
    from pybernetes.runtime.aggregated_api import request_header_config

    if not options.secure_port:
        raise ValueError("--secure-port: an API server has to be reached, 0 is not taken")
    trust, following = secure_serving.trusted(options), None
    with tempfile.TemporaryDirectory(prefix=f"{name}-") as directory:
        if trust.proxy is None and not options.authentication_skip_lookup:
            try:
                looked_up = await request_header_config.look_up(client, Path(directory))
                trust = request_header_config.Trusted(trust.clients or looked_up.clients, looked_up.proxy)
            except (StatusError, OSError) as error:
                if not options.authentication_tolerate_lookup_failure:
                    raise ValueError(f"the cluster does not say whom to trust: {error}") from None
        auth = _secure_serving.delegated_auth(options, name, options.kubeconfig, trust)
        if trust.proxy is not None and not options.requestheader_client_ca_file:
            own = trust.clients if options.client_ca_file else None
            following = asyncio.create_task(
                request_header_config.follow(client, Path(directory), auth, own), name="trust"
            )
        program = make(auth)
        context = secure_serving.tls_context(options, name, trust.bundles)
        stop = stop_event()
        try:
            port = await program.start(options.bind_address, options.secure_port, context)
            gc_tuning.tune()
            print(f"{name} is serving on https://{options.bind_address}:{port}", flush=True)
            await stop.wait()
        finally:
            if following is not None:
                following.cancel()
            await program.stop()
    return 0
