"""The names that Kubernetes' own images have, which ours take the place of."""

from __future__ import annotations

import re
import shutil
import subprocess

from pybernetes import KUBERNETES_VERSION

REPOSITORY = "registry.k8s.io"
CONTROL_PLANE = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
COMPONENTS = (*CONTROL_PLANE, "kube-proxy")
DNS_VERSION = "v1.14.6"
PAUSE_VERSION = "3.10.2"
ETCD_VERSION = "3.7.0-0"
_ETCD = re.compile(r"etcd Version: (\d+\.\d+\.\d+)")
_HAPROXY = re.compile(r"HAProxy version (\d+\.\d+\.\d+)")
_KEEPALIVED = re.compile(r"Keepalived v(\d+\.\d+\.\d+)")


def component(name: str, version: str = KUBERNETES_VERSION, repository: str = REPOSITORY) -> str:
    """Return the image of a component; a version's build becomes part of the tag."""
    return f"{repository}/{name}:{version.replace('+', '_')}"


def dns(repository: str = REPOSITORY, tag: str = "") -> str:
    """Return the image of DNS, which has a folder of its own in upstream's registry and in no other."""
    folder = f"{repository}/coredns" if repository == REPOSITORY else repository
    return f"{folder}/coredns:{tag or DNS_VERSION}"


def pause(repository: str = REPOSITORY) -> str:
    """Return the image of the pause program."""
    return f"{repository}/pause:{PAUSE_VERSION}"


def etcd(repository: str = REPOSITORY, tag: str = "") -> str:
    """Return the image of etcd."""
    return f"{repository}/etcd:{tag or ETCD_VERSION}"


def haproxy(repository: str = REPOSITORY) -> str:
    """Return the image of this machine's HAProxy."""
    return f"{repository}/haproxy:{_installed_tag('haproxy', '-v', _HAPROXY) or 'none'}"


def keepalived(repository: str = REPOSITORY) -> str:
    """Return the image of this machine's keepalived."""
    return f"{repository}/keepalived:{_installed_tag('keepalived', '--version', _KEEPALIVED) or 'none'}"


def installed_etcd_tag() -> str:
    """Return the tag of an image made from the etcd of this machine, which tells its version; empty if there is none."""
    return _installed_tag("etcd", "--version", _ETCD)


def _installed_tag(name: str, flag: str, version: re.Pattern[str]) -> str:
    program = shutil.which(name)
    if program is None:
        return ""
    done = subprocess.run([program, flag], capture_output=True, text=True, check=False, timeout=10)
    match = version.search(done.stdout + done.stderr)  # where a program writes it differs
    return f"{match.group(1)}-0" if match else ""
