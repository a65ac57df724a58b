"""pyb test: runs the whole gate, or pytest with the given arguments."""

import os

from pybernetes.cmd._checkout import ROOT, checkout_folder

SUMMARY = "run the whole gate: lint, types, layers, tests (with arguments: only pytest, with them)"


def main(argv: list[str]) -> int:
    """Replace this process with scripts/check, or with scripts/test when there are arguments."""
    scripts = checkout_folder("scripts")
    if scripts is None:
        return 1
    script = str(scripts / ("test" if argv else "check"))
    os.chdir(ROOT)
    os.execv(script, [script, *argv])
