"""image: the images that the nodes of a local cluster have."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from pybernetes.cmd._cluster import run

if TYPE_CHECKING:
    from pybernetes.tools.local.paths import Cluster

SUMMARY = "Load, list, remove or build images of a local cluster"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = argparse.ArgumentParser(prog="pyb image", description=SUMMARY, allow_abbrev=False)
    verbs = result.add_subparsers(dest="verb", required=True)
    load = verbs.add_parser("load", help="bring an OCI or docker archive into every node")
    load.add_argument("archive", type=Path, help="a tar file")
    listing = verbs.add_parser("ls", help="list the images and the nodes that have them")
    remove = verbs.add_parser("rm", help="remove an image from every node")
    remove.add_argument("image", help="name of the image")
    build = verbs.add_parser(
        "build", help="make an image with one layer of a folder and bring it into every node"
    )
    build.add_argument("folder", type=Path, help="what becomes the root of the image")
    build.add_argument("--tag", required=True, metavar="NAME:TAG", help="name of the image")
    build.add_argument("--entrypoint", default="", metavar="COMMAND", help="what its containers run")
    build.add_argument(
        "--command", default="", metavar="ARGUMENTS", help="with which arguments, unless told otherwise"
    )
    build.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="set a variable")
    build.add_argument("--user", default="", metavar="UID[:GID]", help="as whom")
    build.add_argument("--workdir", default="/", metavar="FOLDER", help="where")
    own = verbs.add_parser(
        "self",
        help="make images of the installation that runs, under the names of Kubernetes' own, of etcd and of pause",
        description="Without --output, --containerd or --push the images go into every node of the local cluster.",
    )
    own.add_argument("--output", type=Path, metavar="FILE", help="write them to an OCI archive")
    own.add_argument("--containerd", type=Path, metavar="SOCKET", help="import them into this containerd")
    own.add_argument("--push", action="store_true", help="push them to the registry that --repository names")
    own.add_argument("--repository", default="registry.k8s.io", help="what their names begin with")
    own.add_argument("--plain-http", action="store_true", help="push without TLS")
    own.add_argument(
        "--only",
        default="",
        metavar="PARTS",
        help="some of pybernetes, etcd, pause, haproxy, keepalived (default: the first three)",
    )
    for line, default in (
        (result, ""),
        *((verb, argparse.SUPPRESS) for verb in (load, listing, remove, build, own)),
    ):
        line.add_argument("--cluster", default=default, metavar="NAME", help="name of the cluster")
    return result


def main(argv: list[str]) -> int:
    """Do what the verb says."""
    arguments = parser().parse_args(argv)
    if arguments.verb == "self":
        return _self(arguments)
    from pybernetes.lib.oci import Process
    from pybernetes.tools.local.nodes import images

    def work(cluster: Cluster) -> None:
        if arguments.verb == "load":
            for name in images.load(cluster, arguments.archive):
                print(f"loaded {name}")
        elif arguments.verb == "ls":
            for name, nodes in images.listing(cluster).items():
                print(f"{name}  ({', '.join(nodes)})")
        elif arguments.verb == "rm":
            images.remove(cluster, arguments.image)
            print(f"removed {images.full_name(arguments.image)}")
        else:
            process = Process(
                entrypoint=tuple(shlex.split(arguments.entrypoint)),
                command=tuple(shlex.split(arguments.command)),
                environment=(*Process().environment, *arguments.env),
                working_directory=arguments.workdir,
                user=arguments.user,
            )
            print(f"built {images.build(cluster, arguments.folder, arguments.tag, process)}")

    return run("image", arguments, work)


def _self(arguments: argparse.Namespace) -> int:
    """Make images of this installation, and bring them where the flags say."""
    import asyncio
    import sys
    import tempfile

    from pybernetes.lib import oci
    from pybernetes.node.containerd import images as runtime
    from pybernetes.tools.image import catalog, registry
    from pybernetes.tools.image.errors import ImageError
    from pybernetes.tools.local.nodes import images

    parts = tuple(arguments.only.split(",")) if arguments.only else catalog.USUAL
    unknown = [part for part in parts if part not in catalog.PARTS]
    if unknown:
        print(f"pyb image: --only: {unknown[0]!r} is none of {', '.join(catalog.PARTS)}", file=sys.stderr)
        return 2
    try:
        made = catalog.images(arguments.repository, parts)
        if arguments.push:
            for name in asyncio.run(registry.push(made, plain=arguments.plain_http)):
                print(f"pushed {name}")
        archive = oci.archive_of(made)
        if arguments.output:
            arguments.output.write_bytes(archive)
        if arguments.containerd:
            asyncio.run(runtime.load(arguments.containerd, archive))
    except (ImageError, runtime.ImageError, OSError) as error:
        print(f"pyb image: {error}", file=sys.stderr)
        return 1
    for image in made:
        for name in image.names:
            print(f"{name}  {oci.digest(image.manifest())}")
    if arguments.push or arguments.output or arguments.containerd:
        return 0

    def load(cluster: Cluster) -> None:
        with tempfile.NamedTemporaryFile(suffix=".tar") as file:
            file.write(archive)
            file.flush()
            images.load(cluster, Path(file.name))

    return run("image", arguments, load)
