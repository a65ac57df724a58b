"""kubeadm as a program: which command, and what its errors look like."""

from __future__ import annotations

import logging
import os
import sys

from pybernetes.api.errors import StatusError
from pybernetes.lib import discover
from pybernetes.tools.kubeadm import command_line
from pybernetes.tools.kubeadm.command_line import Arguments, Command
from pybernetes.tools.kubeadm.errors import KubeadmError

_COMMANDS = "pybernetes.tools.kubeadm.commands"
_HINT = "To see the stack trace of this error execute with --v=5 or higher"
_VERBOSE = 5


def main(argv: list[str]) -> int:
    """Run a command and return the exit code."""
    logging.basicConfig(level=logging.WARNING, format="W %(message)s", stream=sys.stderr)
    try:
        if argv[:1] == ["help"]:
            argv = [*argv[1:], "--help"]
        return command_line.run(root(argv), argv, _change_root)
    except (KubeadmError, StatusError, OSError, ValueError) as error:
        if _verbose(argv):
            raise
        print(f"error: {error}\n{_HINT}", file=sys.stderr)
        return 1


def root(argv: list[str] | None = None) -> Command:
    """Return the tree of commands; of a command line only the branch that it goes, if that is clear."""
    names = discover.names(_COMMANDS)
    chosen = next((word for word in argv or () if word in names), None)
    # A word may also be the value of a flag before the command: then all are needed.
    first = argv[0] if argv else None
    listed = [chosen] if chosen is not None and chosen == first else names
    commands = tuple(discover.load(_COMMANDS, name).COMMAND for name in listed)
    return Command("kubeadm", "Makes machines a cluster", commands=commands)


def _change_root(arguments: Arguments) -> None:
    if not arguments.rootfs:
        return
    try:
        os.chroot(arguments.rootfs)
        os.chdir("/")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise KubeadmError(f"unable to chroot to {arguments.rootfs}: {reason}") from None


def _verbose(argv: list[str]) -> bool:
    for word, following in zip(argv, [*argv[1:], ""], strict=True):
        name, separator, text = word.lstrip("-").partition("=")
        if word[:1] != "-" or name[:1] != "v":
            continue
        value = text if separator else following if name == "v" else name[1:]
        if value.isdigit():
            return int(value) >= _VERBOSE
    return False
