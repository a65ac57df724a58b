"""proxy: serves the API on this machine, with our credentials."""

from __future__ import annotations

import os
import socket
import stat

from pybernetes.tools.kubectl import TYPE_CHECKING, log
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, Exit

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
    if flags.unix_socket and flags.port != 8001:
        raise CommandError("cannot set --unix-socket and --port at the same time")
    _warn(context)
    if flags.unix_socket:
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        if _is_socket(flags.unix_socket):
            os.unlink(flags.unix_socket)
        address: Any = flags.unix_socket
    else:
        server = socket.socket(
            socket.AF_INET6 if ":" in flags.address else socket.AF_INET, socket.SOCK_STREAM
        )
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if not 0 <= flags.port <= 65535:
            raise CommandError(f"listen tcp: address {flags.port}: invalid port")
        address = (flags.address, flags.port)
    mask = os.umask(0o077)  # a socket of this user alone
    try:
        server.bind(address)
        server.listen(64)
    except socket.gaierror:
        raise CommandError(f"listen tcp: lookup {flags.address}: no such host") from None
    except OSError as error:
        where = f"unix {address}" if flags.unix_socket else f"tcp {flags.address}:{flags.port}"
        raise CommandError(f"listen {where}: bind: {(error.strerror or '').lower()}") from None
    finally:
        os.umask(mask)
    name = server.getsockname()
    context.out(f"Starting to serve on {name if isinstance(name, str) else f'{name[0]}:{name[1]}'}")
    context.stdout.flush()
    client = context.client  # complain now if the configuration is wrong
    # What serves is imported only here: every other command starts without it.
    import asyncio

    from pybernetes.tools.kubectl.commands._api_proxy import serve

    asyncio.run(serve(server, client, flags))


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:
        return False


def _warn(context: Context) -> None:
    """Warn of settings that are dangerous or do nothing."""
    flags, server_path = context.flags, context.client.access.prefix
    if server_path and not flags.append_server_path:
        _warning(
            172,
            f"Your kube context contains a server path {server_path}, use --append-server-path to automatically append "
            "the path to each request",
        )
    if flags.disable_filter:
        if not flags.unix_socket:
            _warning(
                177, "Request filter disabled, your proxy is vulnerable to XSRF attacks, please be cautious"
            )
    else:
        _check_patterns(flags.accept_hosts, flags.accept_paths, flags.reject_paths, flags.reject_methods)
        if not flags.reject_paths or not flags.reject_methods:
            _warning(
                182,
                "Request filter has been relaxed, your proxy may be vulnerable to attacks, please be cautious",
            )
    if flags.www and not os.path.exists(flags.www):
        _warning(
            203,
            f"Failed to stat static file directory {flags.www}: stat {flags.www}: no such file or directory",
        )
    elif flags.www and not os.path.isdir(flags.www):
        _warning(205, f"Static file directory {flags.www} is not a directory")


def _check_patterns(*lists: str) -> None:
    """End as the original does if one is no pattern of Go's: with a line of the log, and its code for that."""
    from pybernetes.api.text.regular_expressions import PatternError, compile_pattern

    for pattern in (pattern for patterns in lists for pattern in patterns.split(",") if patterns):
        try:
            compile_pattern(pattern)
        except PatternError as error:
            log.line("proxy_server.go:83", f"Error compiling re: {error}", 0, "F")
            raise Exit(255) from None


def _warning(line: int, text: str) -> None:
    log.line(f"proxy.go:{line}", text, 0, "W")
