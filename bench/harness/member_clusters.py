"""Many small clusters in one process: API servers in memory, with controllers, scheduler and hollow nodes if they are asked for.

python -m bench.harness.member_clusters DIR COUNT HOLLOW: prints where each is as a line of JSON, and ends with its input.
HOLLOW is the number of hollow nodes of each, or -1 for the API server alone.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from bench.harness.held_control_plane import HeldControlPlane

TOKEN = "bench"


async def _start(directory: Path, hollow: int) -> HeldControlPlane:
    from pybernetes.cmd import kube_apiserver, kube_controller_manager

    directory.mkdir()
    (directory / "tokens.csv").write_text(f'{TOKEN},bench,1,"system:masters"\n')
    server = kube_apiserver.parser().parse_args(
        ["--bind-address=127.0.0.1", "--secure-port=0", "--storage-backend=memory", f"--cert-dir={directory}",
         f"--token-auth-file={directory / 'tokens.csv'}", "--disable-admission-plugins=ServiceAccount"]
    )  # fmt: skip
    controllers = kube_controller_manager.parser().parse_args(["--secure-port=0"])
    plane = HeldControlPlane(server, controllers, None, max(0, hollow))
    plane.alone = hollow < 0
    await plane.start()
    plane.released.set()
    return plane


async def run(directory: Path, count: int, hollow: int) -> None:
    """Serve until the input ends."""
    from pybernetes.lib.memory import gc_tuning

    planes = [await _start(directory / str(number), hollow) for number in range(count)]
    gc_tuning.tune()
    for number, plane in enumerate(planes):
        row = {
            "server": f"https://127.0.0.1:{plane.server.port}",
            "authority": str(directory / str(number) / "ca.crt"),
        }
        print(json.dumps(row), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await asyncio.gather(*(plane.stop() for plane in planes))


def main() -> None:
    """Run it."""
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))


if __name__ == "__main__":
    main()
