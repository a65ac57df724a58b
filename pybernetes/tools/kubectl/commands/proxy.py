"""proxy: serves the API on this machine, with our credentials."""

from __future__ import annotations

import os
import socket

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError

if TYPE_CHECKING:
    from typing import Any


SUMMARY = "Run a proxy to the Kubernetes API server"
USAGE = "proxy [--port=PORT] [--www=static-dir] [--www-prefix=prefix] [--api-prefix=prefix]"
FLAGS = ("""
- accept-hosts string ^localhost$,^127\\.0\\.0\\.1$,^\\[::1\\]$ | hosts that requests may name
- accept-paths string ^.* | paths that may be asked for
- address string 127.0.0.1 | address to serve on
- api-prefix string / | path under which the API is served
- append-server-path bool false | append the path of the server's address
- disable-filter bool false | let every request pass; this is dangerous
- keepalive duration 0s | how often connections are probed
p port int 8001 | port to serve on; 0 is a free one
- reject-methods string ^$ | methods that are refused
- reject-paths string ^/api/.*/pods/.*/exec,^/api/.*/pods/.*/attach | paths that are refused
u unix-socket string | socket to serve on
w www string | directory of files to serve
P www-prefix string /static/ | path under which the files are served
""",)  # fmt: skip


def run(context: Context) -> None:
    """Serve until interrupted."""
    flags = context.flags
    if flags.port and flags.unix_socket and "port" in flags.changed:
        raise CommandError("cannot set --unix-socket and --port at the same time")
    if flags.www and not os.path.isdir(flags.www):
        context.warn(
            f"Failed to stat static file directory {flags.www}: stat {flags.www}: no such file or directory"
        )
    if flags.unix_socket:
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        if os.path.exists(flags.unix_socket):
            os.unlink(flags.unix_socket)
        address: Any = flags.unix_socket
    else:
        server = socket.socket(
            socket.AF_INET6 if ":" in flags.address else socket.AF_INET, socket.SOCK_STREAM
        )
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if flags.port > 65535:
            raise CommandError(f"listen tcp: address {flags.port}: invalid port")
        address = (flags.address, flags.port)
    try:
        server.bind(address)
        server.listen(64)
    except OSError as error:
        raise CommandError(
            f"listen tcp {flags.address}:{flags.port}: bind: {(error.strerror or '').lower()}"
        ) from None
    name = server.getsockname()
    context.out(f"Starting to serve on {name if isinstance(name, str) else f'{name[0]}:{name[1]}'}")
    context.stdout.flush()
    client = context.client  # complain now if the configuration is wrong
    # What serves is imported only here: every other command starts without it.
    import asyncio

    from pybernetes.tools.kubectl.commands._api_proxy import serve

    asyncio.run(serve(server, client, flags))
