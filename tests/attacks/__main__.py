"""The command: attack, and print a table."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path
from types import FrameType

import tests.attacks
from pybernetes.lib.discover import discover
from tests.attacks._target import Target


def _leave(number: int, frame: FrameType | None) -> None:
    """End as after an error: what was started goes, once. A second signal does not keep it from going."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(128 + number)


def main(argv: list[str]) -> int:
    """Attack a checkout; return how many attacks got through."""
    parser = argparse.ArgumentParser(prog="python -m tests.attacks", description=tests.attacks.__doc__)
    parser.add_argument("pyb", type=Path, help="the launcher of the checkout that is attacked")
    parser.add_argument("--only", default="", help="attacks with this in their names")
    parser.add_argument(
        "--cluster", default="attacked", help="what to call the cluster that is made for them"
    )
    options = parser.parse_args(argv)
    attacks = {
        name: attack
        for subject in discover(tests.attacks.__name__, "ATTACKS").values()
        for name, attack in subject.items()
        if options.only in name
    }
    through = 0
    signal.signal(signal.SIGTERM, _leave)
    with Target(options.pyb.resolve(), name=options.cluster) as target:
        for name, attack in attacks.items():
            try:
                got = attack(target)
            except Exception as error:
                got = f"? could not be tried: {type(error).__name__}: {error}"
            through += bool(got)
            print(f"{name:<58} {'GOT THROUGH: ' + got if got else 'held'}", flush=True)
    return through


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
