"""certificate deny."""

from __future__ import annotations

from pybernetes.tools.kubectl.commands.certificate._decide import FLAGS, decide
from pybernetes.tools.kubectl.context import Context

__all__ = ["FLAGS", "run"]
SUMMARY = "Deny a certificate signing request"
USAGE = "certificate deny (-f FILENAME | NAME)"


def run(context: Context) -> None:
    """Deny requests."""
    decide(context, "Denied", "KubectlDeny", "This CSR was denied by kubectl certificate deny.", "denied")
