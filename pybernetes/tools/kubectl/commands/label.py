"""label: sets and removes labels."""

from __future__ import annotations

from pybernetes.tools.kubectl.commands._metadata_changes import change, flags
from pybernetes.tools.kubectl.context import Context

SUMMARY = "Update the labels on a resource"
USAGE = (
    "label [--overwrite] (-f FILENAME | TYPE NAME) KEY_1=VAL_1 ... KEY_N=VAL_N [--resource-version=version]"
)
COMPLETION = "types"
FLAGS = flags("kubectl-label", "labels")


def run(context: Context) -> None:
    """Change labels."""
    change(context, "label", "labeled", "labels")
