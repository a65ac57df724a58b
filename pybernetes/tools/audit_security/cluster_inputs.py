"""What is known of a cluster when it is judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from pybernetes.api.resource import Object

# Namespaces of the cluster itself: what runs there may need what others must not have.
OWN_NAMESPACES = ("kube-system", "kube-public", "kube-node-lease")


class File(NamedTuple):
    """A file or folder of a component."""

    path: str
    mode: int
    uid: int


class Process(NamedTuple):
    """A process of a component."""

    uid: int
    capabilities: int
    no_new_privileges: bool


@dataclass
class ClusterInputs:
    """Everything that sections look at; what could not be read is None or missing."""

    apiserver: Mapping[str, str] | None = None  # effective flags
    components: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # flags of those that show them
    kubelets: Mapping[str, Object] = field(default_factory=dict)  # KubeletConfiguration by node
    objects: Mapping[str, list[Object]] = field(default_factory=dict)  # by plural name
    files: Mapping[str, list[File]] | None = None  # by what they are; None for a cluster that is elsewhere
    owners: frozenset[int] = frozenset(
        (0,)
    )  # who runs a local cluster: root, its user, and that of its control plane
    process: Process | None = (
        None  # of the control plane; None for a cluster that is elsewhere, or does not run
    )

    def namespaces(self) -> list[str]:
        """Return the names of namespaces that hold work of users."""
        names = (namespace["metadata"]["name"] for namespace in self.objects.get("namespaces", ()))
        return [name for name in names if name not in OWN_NAMESPACES]

    def pods(self) -> Iterator[Object]:
        """Yield the pods of users."""
        for pod in self.objects.get("pods", ()):
            if pod["metadata"]["namespace"] not in OWN_NAMESPACES:
                yield pod


def name_of(value: Object) -> str:
    """Return the name that findings show, with the namespace if there is one."""
    meta = value["metadata"]
    return f"{meta['namespace']}/{meta['name']}" if meta.get("namespace") else str(meta["name"])
