"""Command lines as upstream's programs read them, with their errors."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import NoReturn

from pybernetes.lib import flags
from pybernetes.lib.flags import Flag
from pybernetes.tools.kubeadm.errors import KubeadmError

# Flags that may stand beside --config: they say how to do it, not what.
_BESIDE_CONFIG = frozenset(
    ("config", "ignore-preflight-errors", "dry-run", "kubeconfig", "node-name", "kubeconfig-dir", "upload-certs",
     "print-manifest", "allow-missing-template-keys", "output", "show-managed-fields", "print-join-command", "rootfs", "v",
     "log-file", "yes")
)  # fmt: skip
GLOBAL = (Flag("v", 0, "how much to log"),)
CONFIG = Flag("config", "", "Path to a kubeadm configuration file.")
DRY_RUN = Flag("dry-run", False, "Don't apply any changes; just output what would be done.")
IGNORE = Flag(
    "ignore-preflight-errors",
    (),
    "A list of checks whose errors will be shown as warnings; 'all' ignores all.",
)
SKIP_PHASES = Flag("skip-phases", (), "List of phases to be skipped")
KUBECONFIG = Flag(
    "kubeconfig", "/etc/kubernetes/admin.conf", "The kubeconfig file to use when talking to the cluster."
)
PATCHES = Flag(
    "patches", "", 'Path to a directory that contains files named "target[suffix][+patchtype].extension".'
)
CRI_SOCKET = Flag("cri-socket", "", "Path to the CRI socket to connect.")


class Parser(argparse.ArgumentParser):
    """A parser that tells errors as upstream's does, and ends nothing by itself."""

    def error(self, message: str) -> NoReturn:
        raise KubeadmError(message)


class Arguments(argparse.Namespace):
    """What a command line says; ``given`` has the names of the flags on it."""

    given: frozenset[str]
    words: list[str]

    def was_given(self, name: str) -> bool:
        """Return whether a flag is on the command line."""
        return name in self.given


def parse(
    program: str, summary: str, listed: Iterable[Flag], argv: Sequence[str], *, most: int = 0, short: dict[str, str] | None = None
) -> Arguments:  # fmt: skip
    """Return what a command line says: flags anywhere, and at most so many words."""
    known = (*listed, *GLOBAL)
    expanded = [(short or {}).get(word, word) for word in argv]
    expanded = [
        "--v" + word[2:] if word.startswith("-v") and not word.startswith("--") else word for word in expanded
    ]
    parser = Parser(
        prog=program,
        description=summary,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    flags.add(parser, known)
    names = {flag.name for flag in known}
    boolean = {flag.name for flag in known if isinstance(flag.default, bool)}
    prepared: list[str] = []
    for word in expanded:
        name, separator, _ = word[2:].partition("=") if word.startswith("--") else ("", "", "")
        if word.startswith("--") and word != "--" and name not in names | {"help"}:
            raise KubeadmError(f"unknown flag: --{name}")
        # A switch takes no word behind it.
        prepared.append(f"{word}=true" if name in boolean and not separator else word)
    result = Arguments()
    parser.parse_intermixed_args(prepared, namespace=result)
    if len(result.words) > most:
        raise KubeadmError(
            f'unknown command "{result.words[most]}" for "{program}"'
            if not most
            else f"accepts at most {most} arg(s), received {len(result.words)}"
        )
    result.given = frozenset(word[2:].partition("=")[0] for word in expanded if word.startswith("--"))
    return result


def check_mixed(arguments: Arguments) -> None:
    """Refuse flags that say what a configuration file says already."""
    if "config" not in arguments.given:
        return
    mixed = sorted(
        name for name in arguments.given if name not in _BESIDE_CONFIG and not name.startswith("skip-")
    )
    if mixed:
        raise KubeadmError(f"can not mix '--config' with arguments [{' '.join(mixed)}]")


def pairs(text: str) -> dict[str, bool]:
    """Return the switches of a flag such as ``A=true,B=false``."""
    result = {}
    for part in flags.strings(text):
        name, separator, value = part.partition("=")
        if not separator:
            raise KubeadmError(f"missing value for feature-gate key {name}")
        result[name] = flags.boolean(value)
    return result
