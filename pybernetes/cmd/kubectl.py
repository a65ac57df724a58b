"""kubectl: the command line of Kubernetes."""

from pybernetes.tools.kubectl.main import main as kubectl

SUMMARY = "control a Kubernetes cluster: the commands of kubectl"


def main(argv: list[str]) -> int:
    """Run a kubectl command line."""
    return kubectl(argv)
