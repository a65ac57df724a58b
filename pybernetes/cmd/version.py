"""pyb version: prints the version of Pybernetes and of the API that it speaks."""

import sys

from pybernetes import KUBERNETES_VERSION, __version__

SUMMARY = "print the version"


def main(argv: list[str]) -> int:
    """Print one line with the versions."""
    python = ".".join(str(part) for part in sys.version_info[:3])
    print(f"Pybernetes {__version__} (Kubernetes API {KUBERNETES_VERSION}, Python {python})")
    return 0
