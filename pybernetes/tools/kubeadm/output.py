"""Output for programs: JSON, YAML, and Go's templates are not among it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pybernetes.lib.flags import Ignored
from pybernetes.tools.kubeadm import command_line
from pybernetes.tools.kubeadm.command_line import Arguments
from pybernetes.tools.kubeadm.configuration.printing import to_yaml
from pybernetes.tools.kubeadm.errors import KubeadmError

FORMATS = ("json", "text", "yaml")
FLAGS = (
    command_line.OUTPUT,
    Ignored("allow-missing-template-keys", True, "templates are no output format here"),
    Ignored("show-managed-fields", False, "what is printed has no managed fields"),
)


def check(arguments: Arguments) -> None:
    """Refuse formats that there are not."""
    if arguments.output not in FORMATS:
        raise KubeadmError(
            "could not construct output printer: unable to match a printer suitable for the output format "
            f'"{arguments.output}", allowed formats are: {",".join(FORMATS)}'
        )


def show(value: dict[str, Any], arguments: Arguments) -> None:
    """Print a value as JSON or YAML."""
    print(json.dumps(value, indent=4) if arguments.output == "json" else to_yaml(value).rstrip(), flush=True)


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows with their columns below one another."""
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    return [
        "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
