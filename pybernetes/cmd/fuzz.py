"""pyb fuzz: runs the fuzzers in the checkout's fuzz/ folder."""

import sys

from pybernetes.cmd._checkout import checkout_folder

SUMMARY = "fuzz what reads the data of others: pyb fuzz --minutes 10 --target yaml_text"


def main(argv: list[str]) -> int:
    """Run the fuzzers that the arguments name."""
    folder = checkout_folder("fuzz")
    if folder is None:
        return 1
    if str(folder.parent) not in sys.path:
        sys.path.insert(0, str(folder.parent))
    from fuzz.command import main as fuzz

    return fuzz(argv)
