"""certificate approve."""

from __future__ import annotations

from pybernetes.tools.kubectl.commands.certificate._decide import FLAGS, decide
from pybernetes.tools.kubectl.context import Context

__all__ = ["FLAGS", "run"]
SUMMARY = "Approve a certificate signing request"
USAGE = "certificate approve (-f FILENAME | NAME)"


def run(context: Context) -> None:
    """Approve requests."""
    decide(
        context,
        "Approved",
        "KubectlApprove",
        "This CSR was approved by kubectl certificate approve.",
        "approved",
    )
