"""The images that a cluster's own pods run from: the installation that runs under every component's name, etcd, pause."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.api.schema import load as schema
from pybernetes.lib.oci import File, Image, Process
from pybernetes.tools.image import installation, layers, names, shared_libraries
from pybernetes.tools.image.errors import ImageError
from pybernetes.tools.image.sources import Sources

_PATH = Process().environment[0]


def ourselves(repository: str = names.REPOSITORY) -> list[Image]:
    """Return the images of the installation that runs: the same layers for every component."""
    schema.compact()  # makes the file, if there is none
    kept = f"{installation.CACHE}/pybernetes/{schema.cache_file().name}"
    ours = {**installation.ourselves(), kept: schema.cache_file()}
    both = (layers.layer(installation.python()), layers.layer(ours))
    environment = (_PATH, f"XDG_CACHE_HOME=/{installation.CACHE}")
    components = tuple(names.component(name, repository=repository) for name in names.COMPONENTS)
    labels = {"org.opencontainers.image.title": "Pybernetes"}
    return [
        Image(components, both, Process(environment=environment, labels=labels)),
        Image(
            (names.dns(repository),),
            both,
            Process(entrypoint=("/coredns",), environment=environment, labels=labels),
        ),
    ]


def etcd(repository: str = names.REPOSITORY) -> list[Image]:
    """Return the image of this machine's etcd, with its version as the tag."""
    programs = {
        "usr/local/bin/etcd": shared_libraries.program("etcd", "etcd-server"),
        "usr/local/bin/etcdctl": shared_libraries.program("etcdctl", "etcd-client"),
        "usr/bin/sh": shared_libraries.program("sh", "dash"),
    }
    files: Sources = {
        **shared_libraries.MERGED,
        **programs,
        **shared_libraries.needed(programs.values()),
        "etc/nsswitch.conf": File(b"hosts: files dns\n"),
    }
    tag = names.installed_etcd_tag()
    if not tag:
        raise ImageError("this machine's etcd does not tell its version")
    return [
        Image(
            (names.etcd(repository, tag),),
            (layers.layer(files),),
            Process(environment=(_PATH, "ETCDCTL_API=3")),
        )
    ]


def pause(repository: str = names.REPOSITORY) -> list[Image]:
    """Return the image of sandboxes: a static program that waits and reaps."""
    files = {"pause": shared_libraries.program("catatonit", "catatonit")}
    process = Process(entrypoint=("/pause", "-P"), user="65535:65535")
    return [Image((names.pause(repository),), (layers.layer(files),), process)]


PARTS: dict[str, Callable[[str], list[Image]]] = {"pybernetes": ourselves, "etcd": etcd, "pause": pause}


def images(repository: str = names.REPOSITORY, parts: tuple[str, ...] = tuple(PARTS)) -> list[Image]:
    """Return the images of these parts."""
    return [image for part in parts for image in PARTS[part](repository)]
