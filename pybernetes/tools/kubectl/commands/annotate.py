"""annotate: sets and removes annotations."""

from __future__ import annotations

from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands._metadata_changes import change, flags
from pybernetes.tools.kubectl.context import Context

SUMMARY = "Update the annotations on a resource"
USAGE = "annotate [--overwrite] (-f FILENAME | TYPE NAME) KEY_1=VAL_1 ... KEY_N=VAL_N [--resource-version=version]"
COMPLETION = "types"
FLAGS = flags("kubectl-annotate", "annotations", shared_flags.RECURSIVE_FILES)


def run(context: Context) -> None:
    """Change annotations."""
    change(context, "annotation", "annotated", "annotations")
