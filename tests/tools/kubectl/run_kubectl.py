"""Runs kubectl within the test."""

from __future__ import annotations

import io

from pybernetes.tools.kubectl.main import main


def run(*arguments: str) -> tuple[int, str, str]:
    """Return the exit code, the output and the errors of a command line, without a kubeconfig."""
    out, err = io.StringIO(), io.StringIO()
    code = main(
        list(arguments), stdout=out, stderr=err, stdin=io.StringIO(), environment={"HOME": "/nonexistent"}
    )
    return code, out.getvalue(), err.getvalue()
