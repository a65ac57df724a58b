"""label: sets and removes labels."""

from __future__ import annotations

from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands._metadata_changes import change
from pybernetes.tools.kubectl.context import Context

SUMMARY = "Update the labels on a resource"
USAGE = (
    "label [--overwrite] (-f FILENAME | TYPE NAME) KEY_1=VAL_1 ... KEY_N=VAL_N [--resource-version=version]"
)
COMPLETION = "types"
FLAGS = (
    shared_flags.FILES, shared_flags.PRINT, shared_flags.DRY_RUN, shared_flags.SELECTOR, shared_flags.FIELD_SELECTOR, shared_flags.RECORD,
    shared_flags.ALL_NAMESPACES, shared_flags.field_manager("kubectl-label"),
    """
- all bool false | all objects of the types in the namespace
- list bool false | show the labels
- local bool false | do not ask the server
- overwrite bool false | change labels that are there already
- resource-version string | only if the object has this version
""",
)  # fmt: skip


def run(context: Context) -> None:
    """Change labels."""
    change(context, "label", "labeled", "labels")
