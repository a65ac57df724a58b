"""kube-apiserver: serves the Kubernetes API."""

from __future__ import annotations

import argparse

from pybernetes.cmd._program import add_version, run, serve

SUMMARY = "Serve the Kubernetes API from an embedded store or from etcd"


def parser() -> argparse.ArgumentParser:
    """Return the command line, with upstream's names and defaults; every part of the server declares its flags."""
    from pybernetes.control_plane.apiserver.assembly.flags import groups
    from pybernetes.lib import flags

    result = argparse.ArgumentParser(prog="kube-apiserver", description=SUMMARY, allow_abbrev=False)
    for title, group in groups().items():
        flags.add(result.add_argument_group(title), group)
    result.add_argument("-v", "--v", type=int, default=0, help="how much to log")
    add_version(result)
    return result


def main(argv: list[str]) -> int:
    """Run the server until it is told to stop."""
    from pybernetes.control_plane.store.protocol import StoreError
    from pybernetes.lib import logs
    from pybernetes.lib.memory import gc_tuning

    gc_tuning.pause()
    arguments = parser().parse_args(argv)
    logs.set_up(arguments.v)
    return run("kube-apiserver", _serve(arguments), RuntimeError, StoreError)


async def _serve(arguments: argparse.Namespace) -> int:
    from pybernetes.control_plane.apiserver.assembly.api_server import ApiServer
    from pybernetes.control_plane.apiserver.assembly.setup import settings, store

    configured = settings(arguments)
    server = ApiServer(store(arguments, configured), configured)
    where = arguments.bind_address
    return await serve(server, lambda: f"kube-apiserver is serving on https://{where}:{server.port}")
