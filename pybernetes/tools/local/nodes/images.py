"""Images of a local cluster's nodes: imported from archives and folders, listed, removed."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from pybernetes.lib import oci
from pybernetes.node.containerd import images
from pybernetes.tools.local import settings as saved_settings
from pybernetes.tools.local.nodes import kept_images
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.processes import containerd_socket

log = logging.getLogger(__name__)
Result = TypeVar("Result")


def sockets(cluster: Cluster) -> dict[str, Path]:
    """Return the container runtimes that run, by the names of their nodes."""
    nodes = saved_settings.load(cluster).nodes
    sockets_by_node = {node.name: containerd_socket(cluster, node.name) for node in nodes if not node.stopped}
    running = {name: socket for name, socket in sockets_by_node.items() if socket.exists()}
    if not running:
        raise images.ImageError(
            f"the cluster {cluster.name} has no node with real containers that runs, and images are checked by one; "
            f"add one first (pyb node add --cluster {cluster.name}), nodes that come later then have them too"
        )
    return running


async def _everywhere(cluster: Cluster, work: Callable[[Path], Awaitable[Result]]) -> dict[str, Result]:
    nodes = sockets(cluster)
    results = await asyncio.gather(*(work(socket) for socket in nodes.values()))
    return dict(zip(nodes, results, strict=True))


def load(cluster: Cluster, archive: Path) -> list[str]:
    """Import an archive into every node, keep it for nodes that come later, and return the names of its images."""
    if not archive.is_file():
        raise images.ImageError(f"{archive}: no such file")
    with kept_images.locked(cluster) as kept:
        copied = kept.copy(archive)
        try:
            loaded = asyncio.run(_everywhere(cluster, lambda socket: images.load_file(socket, copied)))
        except BaseException:
            copied.unlink()
            raise
        names = next(iter(loaded.values()))
        before, number = kept.last, kept.keep(names)
        for node in loaded:
            if _brought(cluster, node) == before:  # one that just starts has yet to be brought the older ones
                _marker(cluster, node).write_text(str(number))
    return names


def build(cluster: Cluster, folder: Path, tag: str, process: oci.Process) -> str:
    """Make an image whose one layer is a folder, and import it into every node."""
    if not folder.is_dir():
        raise images.ImageError(f"{folder}: no such folder")
    name = full_name(tag)
    with tempfile.NamedTemporaryFile(suffix=".tar") as file:
        file.write(oci.archive(name, oci.directory_layer(folder), process))
        file.flush()
        load(cluster, Path(file.name))
    return name


async def bring(cluster: Cluster, node: str) -> None:
    """Import what was brought into the cluster while a node was not there, or did not run."""
    socket = containerd_socket(cluster, node)
    with kept_images.locked(cluster) as kept:
        for number in kept.newer_than(_brought(cluster, node)):
            try:
                names = await images.load_file(socket, kept.path(number))
            except images.ImageError as error:
                log.error("images are missing on %s: %s", node, error)
                continue
            for name in names:
                if name not in kept.images:  # it came in the same archive, and was removed since
                    await images.remove(socket, name)
        _marker(cluster, node).write_text(str(kept.last))


def _brought(cluster: Cluster, node: str) -> int:
    marker = _marker(cluster, node)
    return int(marker.read_text()) if marker.exists() else 0


def _marker(cluster: Cluster, node: str) -> Path:
    """Return the file that says up to which archive a node has them all."""
    return cluster.root / "nodes" / node / "images"


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
    with kept_images.locked(cluster) as kept:
        asyncio.run(_everywhere(cluster, lambda socket: images.remove(socket, full)))
        kept.forget(full)


def full_name(name: str) -> str:
    """Return an image's name with everything that is understood when it is left out."""
    first, slash, _ = name.partition("/")
    if not slash:
        name = f"docker.io/library/{name}"
    elif "." not in first and ":" not in first and first != "localhost":
        name = f"docker.io/{name}"
    last = name.rpartition("/")[2]
    return name if ":" in last or "@" in last else f"{name}:latest"
