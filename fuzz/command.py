"""pyb fuzz: tries mutated inputs on everything that reads the data of others, for as long as it is told.

The same seed gives the same inputs. What fails is kept in a file that ``--replay`` runs again.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

from bench.harness.orderly_exit import orderly_exit
from fuzz.engine import corpus
from fuzz.engine.campaign import Campaign
from fuzz.engine.judge import Failure, judge
from fuzz.engine.target import Target
from fuzz.server import attack
from pybernetes.lib import discover

TARGETS = "fuzz.targets"
SERVER = "apiserver"
# How long one target is tried before it is the turn of the next.
_TURN = 10.0


def main(argv: list[str]) -> int:
    """Fuzz; return 1 if something failed."""
    names = [*discover.names(TARGETS), SERVER]
    parser = argparse.ArgumentParser(prog="pyb fuzz", description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "--minutes", type=float, default=1.0, help="how long, all targets together (default: 1)"
    )
    parser.add_argument(
        "--target", action="append", choices=names, help=f"one of {', '.join(names)}; default: all"
    )
    parser.add_argument("--seed", type=int, help="where chance begins (default: somewhere, and printed)")
    parser.add_argument(
        "--save", type=Path, help="folder for inputs that fail (default: one in the temporary folder)"
    )
    parser.add_argument(
        "--replay", type=Path, metavar="FILE", help="try this one input on --target, and nothing else"
    )
    parser.add_argument(
        "--connections", type=int, default=8, help="connections to the API server (default: 8)"
    )
    options = parser.parse_args(argv)
    if options.replay is not None:
        if not options.target or options.target == [SERVER]:
            parser.error("--replay needs a --target that reads bytes")
        return _replay(options.target[0], options.replay)
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    folder = options.save or Path(tempfile.gettempdir(), "pyb-fuzz-failures")
    chosen = options.target or names
    with orderly_exit():
        return _run(chosen, seed, options.minutes * 60, folder, options.connections)


def _run(names: list[str], seed: int, seconds: float, folder: Path, connections: int) -> int:
    """Give every target its share of the time, in turns; the server's share comes first, at once."""
    failed = 0
    share = seconds / len(names)
    if SERVER in names:
        failed += attack.run(share, seed, folder, connections)
    campaigns = [Campaign(name, load(name), seed) for name in names if name != SERVER]
    end = time.monotonic() + share * len(campaigns)
    while campaigns and time.monotonic() < end:
        for campaign in campaigns:

            def report(failure: Failure, data: bytes, name: str = campaign.name) -> None:
                path = corpus.save(name, data, folder)
                print(f"{name}: {failure.kind}: {failure.text}\n  saved as {path}", flush=True)

            campaign.run_for(min(_TURN, share, max(0.0, end - time.monotonic())), report)
            print(f"{campaign.name}: {campaign.runs} inputs, {len(campaign.failures)} failures", flush=True)
    failed += sum(len(campaign.failures) for campaign in campaigns)
    if failed:
        print(
            f"{failed} failures, seed {seed}; try one again: pyb fuzz --target NAME --replay FILE", flush=True
        )
    return 1 if failed else 0


def load(name: str) -> Target:
    """Return a target by its name."""
    target = discover.load(TARGETS, name).TARGET
    assert isinstance(target, Target)
    return target


def _replay(name: str, path: Path) -> int:
    failure = judge(load(name), path.read_bytes())
    print(f"{name}: {failure.kind}: {failure.text}" if failure else f"{name}: nothing is wrong")
    return 1 if failure else 0
