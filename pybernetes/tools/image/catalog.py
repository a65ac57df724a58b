"""The images that a cluster's own pods run from: the installation that runs under every component's name, etcd, pause."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pybernetes.api.schema import load as schema
from pybernetes.lib.oci import File, Image, Process
from pybernetes.tools.image import installation, layers, names, shared_libraries
from pybernetes.tools.image.errors import ImageError
from pybernetes.tools.image.sources import Sources

_PATH = Process().environment[0]
_PASSWORDS = b"root:x:0:0:root:/:/usr/sbin/nologin\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n"
# Jobs of upstream's kubeadm run ``pause -v`` to see whether a cluster takes work, and have to end well.
_PAUSE = f"""#!/bin/sh
if [ "${{1:-}}" = -v ]; then
    echo "pause {names.PAUSE_VERSION}"
    exit 0
fi
exec /usr/bin/catatonit -P
""".encode()


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
    tag = names.installed_etcd_tag()
    if not tag:
        raise ImageError("this machine's etcd does not tell its version")
    return [_packaged(programs, names.etcd(repository, tag), environment=("ETCDCTL_API=3",))]


def pause(repository: str = names.REPOSITORY) -> list[Image]:
    """Return the image of sandboxes: a static program that waits and reaps, and tells its version as upstream's does."""
    programs = {
        "usr/bin/catatonit": shared_libraries.program("catatonit", "catatonit"),
        "usr/bin/sh": shared_libraries.program("sh", "dash"),
    }
    files: Sources = {
        **shared_libraries.MERGED,
        **programs,
        **shared_libraries.needed([programs["usr/bin/sh"]]),
        "pause": File(_PAUSE, mode=0o755),
    }
    process = Process(entrypoint=("/pause",), user="65535:65535")
    return [Image((names.pause(repository),), (layers.layer(files),), process)]


def haproxy(repository: str = names.REPOSITORY) -> list[Image]:
    """Return the image of this machine's HAProxy, with its version as the tag."""
    programs = {"usr/sbin/haproxy": shared_libraries.program("haproxy", "haproxy")}
    return [_packaged(programs, names.haproxy(repository))]


def keepalived(repository: str = names.REPOSITORY) -> list[Image]:
    """Return the image of this machine's keepalived, with its version as the tag and what a check needs."""
    programs = {
        "usr/sbin/keepalived": shared_libraries.program("keepalived", "keepalived"),
        "usr/bin/curl": shared_libraries.program("curl", "curl"),
        "usr/bin/sh": shared_libraries.program("sh", "dash"),
    }
    users = {
        "etc/passwd": File(_PASSWORDS),
        "etc/group": File(b"root:x:0:\nnogroup:x:65534:\n"),
    }
    return [_packaged(programs, names.keepalived(repository), users)]


def _packaged(
    programs: dict[str, Path], name: str, more: Sources | None = None, environment: tuple[str, ...] = ()
) -> Image:
    """Return an image of programs of this machine with the libraries that they load."""
    files: Sources = {
        **shared_libraries.MERGED,
        **programs,
        **shared_libraries.needed(programs.values()),
        "etc/nsswitch.conf": File(b"hosts: files dns\n"),
        **(more or {}),
    }
    return Image((name,), (layers.layer(files),), Process(environment=(_PATH, *environment)))


PARTS: dict[str, Callable[[str], list[Image]]] = {
    "pybernetes": ourselves,
    "etcd": etcd,
    "pause": pause,
    "haproxy": haproxy,
    "keepalived": keepalived,
}
# What every cluster needs; the others are for several control planes.
USUAL = ("pybernetes", "etcd", "pause")


def images(repository: str = names.REPOSITORY, parts: tuple[str, ...] = USUAL) -> list[Image]:
    """Return the images of these parts."""
    return [image for part in parts for image in PARTS[part](repository)]
