"""An API server in the benchmark's own process, with its store in memory unless flags say otherwise."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pybernetes.cmd.kube_apiserver import parser
from pybernetes.control_plane.apiserver.assembly import setup
from pybernetes.control_plane.apiserver.assembly.api_server import ApiServer
from pybernetes.control_plane.apiserver.authn.user import MASTERS

TOKEN = "token"  # of its administrator


@asynccontextmanager
async def inprocess_server(*more: str) -> AsyncIterator[ApiServer]:
    """Yield a server that answers, with more flags; it is stopped at the end, and nothing of it stays."""
    with tempfile.TemporaryDirectory(prefix="pyb-bench-") as directory:
        with open(f"{directory}/tokens.csv", "w") as file:
            file.write(f"{TOKEN},bench,1,{MASTERS}\n")
        flags = parser().parse_args(
            ["--bind-address=127.0.0.1", "--secure-port=0", "--storage-backend=memory", f"--cert-dir={directory}",
             f"--token-auth-file={directory}/tokens.csv", "--disable-admission-plugins=ServiceAccount", *more]
        )  # fmt: skip
        settings = setup.settings(flags)
        server = ApiServer(setup.store(flags, settings), settings)
        await server.start()
        try:
            yield server
        finally:
            await server.stop()
