"""Images of a local cluster's nodes: imported from archives and folders, listed, removed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from pybernetes.lib import oci
from pybernetes.node.containerd import images
from pybernetes.tools.local import settings as kept
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.processes import containerd_paths

Result = TypeVar("Result")


def sockets(cluster: Cluster) -> dict[str, Path]:
    """Return the container runtimes that run, by the names of their nodes."""
    nodes = kept.load(cluster).nodes
    sockets_by_node = {
        node.name: containerd_paths(cluster, node.name).socket for node in nodes if not node.stopped
    }
    running = {name: socket for name, socket in sockets_by_node.items() if socket.exists()}
    if not running:
        raise images.ImageError(f"the cluster {cluster.name} has no node with real containers that runs")
    return running


async def _everywhere(cluster: Cluster, work: Callable[[Path], Awaitable[Result]]) -> dict[str, Result]:
    nodes = sockets(cluster)
    results = await asyncio.gather(*(work(socket) for socket in nodes.values()))
    return dict(zip(nodes, results, strict=True))


def load(cluster: Cluster, archive: Path) -> list[str]:
    """Import an archive into every node, and return the names of its images."""
    if not archive.is_file():
        raise images.ImageError(f"{archive}: no such file")
    loaded = asyncio.run(_everywhere(cluster, lambda socket: images.load_file(socket, archive)))
    return next(iter(loaded.values()))


def build(cluster: Cluster, folder: Path, tag: str, process: oci.Process) -> str:
    """Make an image whose one layer is a folder, and import it into every node."""
    if not folder.is_dir():
        raise images.ImageError(f"{folder}: no such folder")
    name = full_name(tag)
    archive = oci.archive(name, oci.directory_layer(folder), process)
    asyncio.run(_everywhere(cluster, lambda socket: images.load(socket, archive)))
    return name


def listing(cluster: Cluster) -> dict[str, list[str]]:
    """Return the images by name, with the nodes that have them."""
    nodes_by_image: dict[str, list[str]] = {}
    for node, names in asyncio.run(_everywhere(cluster, images.names)).items():
        for name in names:
            if not name.startswith("sha256:") and "@" not in name:
                nodes_by_image.setdefault(name, []).append(node)
    return dict(sorted(nodes_by_image.items()))


def remove(cluster: Cluster, name: str) -> None:
    """Remove an image from every node that has it."""
    full = full_name(name)
    if full not in listing(cluster):
        raise images.ImageError(f"no node has the image {full}")
    asyncio.run(_everywhere(cluster, lambda socket: images.remove(socket, full)))


def full_name(name: str) -> str:
    """Return an image's name with everything that is understood when it is left out."""
    first, slash, _ = name.partition("/")
    if not slash:
        name = f"docker.io/library/{name}"
    elif "." not in first and ":" not in first and first != "localhost":
        name = f"docker.io/{name}"
    last = name.rpartition("/")[2]
    return name if ":" in last or "@" in last else f"{name}:latest"
