"""What the commands of rollout refuse alike."""

from __future__ import annotations

from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, Verbatim


def require_objects(context: Context) -> None:
    """Refuse a command line that names no object."""
    if not context.args and not context.flags.filename and not context.flags.kustomize:
        raise Verbatim("error: required resource not specified")


def check_revision(context: Context) -> None:
    """Refuse a revision that cannot be one."""
    if context.flags.revision < 0:
        raise CommandError(f"revision must be a positive integer: {context.flags.revision}")
