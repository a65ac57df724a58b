"""label: sets and removes labels."""

from __future__ import annotations

from pybernetes.tools.kubectl import flagsets
from pybernetes.tools.kubectl.commands._marks import change
from pybernetes.tools.kubectl.context import Context

SUMMARY = "Update the labels on a resource"
USAGE = (
    "label [--overwrite] (-f FILENAME | TYPE NAME) KEY_1=VAL_1 ... KEY_N=VAL_N [--resource-version=version]"
)
FLAGS = (
    flagsets.FILES, flagsets.PRINT, flagsets.DRY_RUN, flagsets.SELECTOR, flagsets.FIELD_SELECTOR, flagsets.RECORD,
    flagsets.ALL_NAMESPACES, flagsets.field_manager("kubectl-label"),
    """
- all bool false | all objects of the types in the namespace
- list bool false | show the labels
- local bool false | do not ask the server
- overwrite bool false | change labels that are there already
- resource-version string | only if the object has this version
""",
)  # fmt: skip


def run(context: Context) -> None:
    """Changes labels."""
    change(context, "label", "labeled", "labels")
