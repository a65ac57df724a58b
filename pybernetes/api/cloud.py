"""What the parts of a cluster say to each other about the cloud that they are in."""

from __future__ import annotations

EXTERNAL = "external"
UNINITIALIZED = (
    "node.cloudprovider.kubernetes.io/uninitialized"  # a taint: the cloud has not completed the node yet
)
PROVIDED_ADDRESS = (
    "alpha.kubernetes.io/provided-node-ip"  # an annotation: addresses that the kubelet was given
)


def check_provider(name: str) -> None:
    """Raise ValueError unless a component of the cluster can have this cloud provider: an external one, or none."""
    if name not in ("", EXTERNAL):
        raise ValueError(
            f'cloud provider "{name}" was specified, but built-in cloud providers are disabled. '
            "Please set --cloud-provider=external and migrate to an external cloud provider"
        )
