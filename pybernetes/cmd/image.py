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
    for line, default in (
        (result, ""),
        *((verb, argparse.SUPPRESS) for verb in (load, listing, remove, build)),
    ):
        line.add_argument("--cluster", default=default, metavar="NAME", help="name of the cluster")
    return result


def main(argv: list[str]) -> int:
    """Do what the verb says."""
    arguments = parser().parse_args(argv)
    from pybernetes.lib.oci import Process
    from pybernetes.tools.local import images

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
