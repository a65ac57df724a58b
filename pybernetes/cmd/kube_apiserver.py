"""kube-apiserver: serves the Kubernetes API."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys

SUMMARY = "Serve the Kubernetes API from an embedded store or from etcd"


def parser() -> argparse.ArgumentParser:
    """Return the command line, with upstream's names and defaults; every part of the server declares its flags."""
    from pybernetes.control_plane.apiserver.assembly.flags import groups
    from pybernetes.lib import flags

    result = argparse.ArgumentParser(prog="kube-apiserver", description=SUMMARY, allow_abbrev=False)
    for title, group in groups().items():
        flags.add(result.add_argument_group(title), group)
    result.add_argument("-v", "--v", type=int, default=0, help="how much to log")
    return result


def main(argv: list[str]) -> int:
    """Run the server until it is told to stop."""
    from pybernetes.lib import gc_tuning, logs

    gc_tuning.pause()
    arguments = parser().parse_args(argv)
    logs.set_up(arguments.v)
    try:
        return _run(arguments)
    except (OSError, ValueError, RuntimeError) as error:
        print(f"kube-apiserver: {error}", file=sys.stderr)
        return 1


def _run(arguments: argparse.Namespace) -> int:
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_serve(arguments))


async def _serve(arguments: argparse.Namespace) -> int:
    from pybernetes.control_plane.apiserver.assembly.api_server import ApiServer
    from pybernetes.control_plane.apiserver.assembly.setup import settings, store
    from pybernetes.lib import gc_tuning

    server = ApiServer(store(arguments), settings(arguments))
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stop.set)
    await server.start()
    gc_tuning.tune()
    print(f"kube-apiserver is serving on https://{arguments.bind_address}:{server.port}", flush=True)
    await stop.wait()
    await server.stop()
    return 0
