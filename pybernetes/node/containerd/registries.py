"""Where a containerd pulls from: mirrors of registries, and registries that are taken without TLS or unverified.

``config_path`` of containerd's CRI plugin is a folder with a folder for each registry, whose ``hosts.toml`` says where its
images are looked for, one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from pybernetes.lib.files import trees

_REGISTRY = re.compile(r"(\*|[A-Za-z0-9]([A-Za-z0-9.-]{0,252})(:[0-9]{1,5})?)\Z")
_URL = re.compile(r"https?://[A-Za-z0-9\[\]:.-]+(/[A-Za-z0-9._~/-]*)?\Z")
_SERVERS = {"docker.io": "https://registry-1.docker.io"}


def mirror(text: str) -> tuple[str, str]:
    """Return the registry and the URL of ``REGISTRY=URL``; ValueError if it is something else."""
    registry, separator, url = text.partition("=")
    if not separator or not _REGISTRY.match(registry) or not _URL.match(url):
        raise ValueError(
            f"registry mirror {text!r}: this is not REGISTRY=URL, such as docker.io=http://10.0.0.1:5000"
        )
    return registry, url


def check_insecure(text: str) -> str:
    """Return the name of a registry; ValueError if it is none."""
    if text == "*" or not _REGISTRY.match(text):
        raise ValueError(
            f"insecure registry {text!r}: this is not the name of a registry, such as registry.local:5000"
        )
    return text


def files(mirrors: Iterable[str], insecure: Iterable[str]) -> dict[str, str]:
    """Return the texts of the files, by their folders; a registry's mirrors come before itself."""
    hosts: dict[str, list[str]] = {}
    unverified = {check_insecure(name) for name in insecure}
    for registry, url in map(mirror, mirrors):
        where = url.split("//", 1)[1].partition("/")[0]
        hosts.setdefault(registry, []).append(_host(url, where in unverified))
    for registry in unverified:
        hosts.setdefault(registry, []).extend(
            (_host(f"https://{registry}", True), _host(f"http://{registry}", True))
        )
    return {
        "_default" if registry == "*" else registry: _server(registry) + "".join(entries)
        for registry, entries in hosts.items()
    }


def _server(registry: str) -> str:
    return "" if registry == "*" else f'server = "{_SERVERS.get(registry, f"https://{registry}")}"\n'


def _host(url: str, unverified: bool) -> str:
    lines = f'\n[host."{url}"]\n  capabilities = ["pull", "resolve"]\n'
    return lines + ("  skip_verify = true\n" if unverified else "")


def write(folder: Path, mirrors: Iterable[str], insecure: Iterable[str]) -> None:
    """Make a folder say where to pull from, and nothing that it said before. containerd reads it at every pull."""
    texts = files(mirrors, insecure)
    trees.remove_path(folder)
    folder.mkdir(parents=True, mode=0o711)
    for name, content in texts.items():
        (folder / name).mkdir()
        (folder / name / "hosts.toml").write_text(content)
