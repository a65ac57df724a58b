"""annotate: sets and removes annotations."""

from __future__ import annotations

from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands._metadata_changes import change
from pybernetes.tools.kubectl.context import Context

SUMMARY = "Update the annotations on a resource"
USAGE = "annotate [--overwrite] (-f FILENAME | TYPE NAME) KEY_1=VAL_1 ... KEY_N=VAL_N [--resource-version=version]"
COMPLETION = "types"
FLAGS = (
    shared_flags.FILES, shared_flags.PRINT, shared_flags.DRY_RUN, shared_flags.SELECTOR, shared_flags.FIELD_SELECTOR, shared_flags.RECORD,
    shared_flags.ALL_NAMESPACES, shared_flags.field_manager("kubectl-annotate"),
    """
- all bool false | all objects of the types in the namespace
- list bool false | show the annotations
- local bool false | do not ask the server
- overwrite bool false | change annotations that are there already
- resource-version string | only if the object has this version
""",
)  # fmt: skip


def run(context: Context) -> None:
    """Change annotations."""
    change(context, "annotation", "annotated", "annotations")
