"""The control plane in one process, whose scheduler begins when it gets SIGUSR1.

python -m bench.harness.held_control_plane DIR [--alone] [--hollow=N] [FLAG…]: the flags are the API server's; --alone
leaves it at that, --hollow adds hollow nodes.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from pybernetes.tools.local.control_plane import ControlPlane

_HOLLOW = "--hollow="


class HeldControlPlane(ControlPlane):
    """A control plane that schedules nothing until it is released, or the API server alone."""

    alone = False

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.released = asyncio.Event()

    def _supervise(self, name: str, part: Callable[[], Awaitable[None]]) -> None:
        if not self.alone:
            super()._supervise(name, part)

    async def _scheduler(self) -> None:
        await self.released.wait()
        await super()._scheduler()


async def run(directory: Path, kubeconfig: Path, arguments: list[str]) -> None:
    """Serve from a directory until it is told to stop, and write a kubeconfig that says where."""
    from pybernetes.cmd import kube_apiserver, kube_controller_manager
    from pybernetes.lib.memory import gc_tuning

    (directory / "tokens.csv").write_text('bench,bench,1,"system:masters"\n')
    flags = [word for word in arguments if word != "--alone" and not word.startswith(_HOLLOW)]
    hollow = [int(word.removeprefix(_HOLLOW)) for word in arguments if word.startswith(_HOLLOW)]
    server = kube_apiserver.parser().parse_args(
        ["--bind-address=127.0.0.1", "--secure-port=0", f"--cert-dir={directory}", f"--data-dir={directory / 'data'}",
         f"--token-auth-file={directory / 'tokens.csv'}", *flags]
    )  # fmt: skip
    # Nobody reports on the nodes of a benchmark: they would all be called unknown in the middle of it.
    controllers = kube_controller_manager.parser().parse_args(
        ["--node-monitor-grace-period=24h", "--secure-port=0"]
    )
    plane = HeldControlPlane(server, controllers, None, sum(hollow))
    plane.alone = "--alone" in arguments
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, plane.released.set)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await plane.start()
    gc_tuning.tune()
    text = (
        "apiVersion: v1\nkind: Config\ncurrent-context: bench\n"
        f"clusters: [{{name: bench, cluster: {{server: 'https://127.0.0.1:{plane.server.port}', "
        f"certificate-authority: '{directory / 'ca.crt'}'}}}}]\n"
        "users: [{name: bench, user: {token: bench}}]\n"
        "contexts: [{name: bench, context: {cluster: bench, user: bench}}]\n"
    )
    written = kubeconfig.with_suffix(".new")
    written.write_text(text)
    written.rename(kubeconfig)
    await stop.wait()
    await plane.stop()


def main() -> None:
    """Run it."""
    import uvloop

    directory = Path(sys.argv[1])
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run(directory, directory / "kubeconfig", sys.argv[2:]))


if __name__ == "__main__":
    main()
