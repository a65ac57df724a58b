"""kustomize: says that kustomizations are not supported."""

from __future__ import annotations

from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError

SUMMARY = "Build a kustomization target from a directory or URL"
USAGE = "kustomize DIR"
FLAGS = ()


def run(context: Context) -> None:
    """Say that kustomizations are not supported."""
    raise CommandError("kustomizations are not supported: build them with the program kustomize")
