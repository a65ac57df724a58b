"""kubeadm as a program: which command, and what its errors look like."""

from __future__ import annotations

import logging
import sys

from pybernetes.api.errors import StatusError
from pybernetes.lib import discover
from pybernetes.tools.kubeadm.errors import KubeadmError, PreflightError

_COMMANDS = "pybernetes.tools.kubeadm.commands"
_HINT = "To see the stack trace of this error execute with --v=5 or higher"


def main(argv: list[str]) -> int:
    """Run a command and return the exit code."""
    logging.basicConfig(level=logging.WARNING, format="W %(message)s", stream=sys.stderr)
    words = [word for word in argv if not word.startswith("-")]
    if not words or words[0] == "help" or argv[0] in ("-h", "--help"):
        print(_help())
        return 0
    name = words[0]
    try:
        if name not in discover.names(_COMMANDS):
            raise KubeadmError(f'unknown command "{name}" for "kubeadm"')
        rest = list(argv)
        rest.remove(name)
        return int(discover.load(_COMMANDS, name).main(rest) or 0)
    except (KubeadmError, StatusError, OSError, ValueError) as error:
        if _verbose(argv):
            raise
        print(f"error: {error}\n{_HINT}", file=sys.stderr)
        return 2 if isinstance(error, PreflightError) else 1


def _verbose(argv: list[str]) -> bool:
    for word, following in zip(argv, [*argv[1:], ""], strict=True):
        value = (
            word.partition("=")[2]
            if word.startswith("--v=")
            else following
            if word in ("-v", "--v")
            else word[2:]
        )
        if (word.startswith("--v=") or word in ("-v", "--v") or word[:2] == "-v") and value.isdigit():
            return int(value) >= 5
    return False


def _help() -> str:
    rows = [(name, discover.load(_COMMANDS, name).SUMMARY) for name in discover.names(_COMMANDS)]
    width = max(len(name) for name, _ in rows)
    lines = [f"  {name:<{width}}  {summary}" for name, summary in rows]
    return "\n".join(
        ["kubeadm: makes machines a cluster", "", "Usage:", "  kubeadm [command]", "", "Commands:", *lines]
    )
