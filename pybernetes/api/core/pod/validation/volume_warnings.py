"""What is legal in a pod's volumes, and most likely not meant."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from pybernetes.api import quantity
from pybernetes.api.field import Path
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format

_GONE = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
_CERTIFICATE = (
    ("certificateChainPath", "PodCertificate chain"),
    ("keyPath", "PodCertificate key"),
    ("credentialBundlePath", "PodCertificate credential bundle"),
)
_SOURCES = (
    ("configMap", "ConfigMap", "name"),
    ("secret", "Secret", "secretName"),
    ("downwardAPI", "DownwardAPI", ""),
)
Place = tuple[str, str]


def volume_warnings(volumes: list[Object], path: Path) -> Iterator[str]:
    """Warn about sources that do nothing any more and about fractions of bytes."""
    for index, volume in enumerate(volumes):
        for key in volume:
            if key in _GONE:
                yield f"{path[index] / ('storageOS' if key == 'storageos' else key)}: {_GONE[key]}"
        if "ephemeral" not in volume:
            continue
        template = volume["ephemeral"].get("volumeClaimTemplate", {})
        resources = template.get("spec", {}).get("resources", {})
        for kind in ("requests", "limits"):
            amount = resources.get(kind, {}).get("storage", "0")
            if quantity.milli(amount) % 1000:
                here = path[index] / "ephemeral" / "volumeClaimTemplate" / "spec" / "resources" / kind
                yield f'{here["storage"]}: fractional byte value "{amount}" is invalid, must be an integer'


def overlap_warnings(volumes: list[Object]) -> Iterator[str]:
    """Warn about files of one volume that are in each other's way."""
    for volume in volumes:
        for key, title, field in _SOURCES:
            if key not in volume:
                continue
            source = volume[key]
            for text in _overlaps([(item.get("path", ""), "") for item in source.get("items", ())]):
                shown = f"{title} {go_format.quote(source.get(field, ''))}" if field else title
                yield f"volume {_name(volume)} ({shown}): overlapping paths: {text}"
        if "projected" not in volume:
            continue
        places: list[Place] = []
        for source in volume["projected"].get("sources", ()):
            if not source:
                yield f"volume {_name(volume)} (Projected) has no sources provided"
            places += _projected(source)
        for text in _overlaps(places):
            yield f"volume {_name(volume)} (Projected): overlapping paths: {text}"


def _name(volume: Object) -> str:
    return go_format.quote(volume.get("name", ""))


def _projected(source: Object) -> list[Place]:
    """Return the files of one source; of several, which is an error, the first counts."""
    for key, title in (("configMap", "ConfigMap"), ("secret", "Secret")):
        if key in source and source[key].get("items"):
            shown = f"{title} {go_format.quote(source[key].get('name', ''))}"
            return [(item.get("path", ""), shown) for item in source[key]["items"]]
    if source.get("downwardAPI", {}).get("items"):
        return [(item.get("path", ""), "DownwardAPI") for item in source["downwardAPI"]["items"]]
    if "serviceAccountToken" in source:
        return [(source["serviceAccountToken"].get("path", ""), "ServiceAccountToken")]
    if "clusterTrustBundle" in source:
        bundle = source["clusterTrustBundle"]
        shown = go_format.quote(bundle.get("name", bundle.get("signerName", "")))
        return [(bundle.get("path", ""), f"ClusterTrustBundle {shown}")]
    certificate = source.get("podCertificate", {})
    return [(certificate[key], title) for key, title in _CERTIFICATE if certificate.get(key)]


def _overlaps(places: list[Place]) -> Iterator[str]:
    # In their order, what is below a path comes right behind it: nearly always nothing is.
    ordered = sorted([raw.rstrip("/") + "/" for raw, _ in places if raw.rstrip("/")])
    if not any(map(str.startswith, ordered[1:], ordered)):
        return
    root = _Folder()
    for raw, source in places:
        path = raw.rstrip("/")
        if not path:
            continue
        folder, above = root, []
        for name in path.split("/"):
            above += folder.files
            folder = folder.folders.setdefault(name, _Folder())
        for other, other_source in itertools.chain(above, folder.below()):
            yield f"{_shown(path, source)} with {_shown(other, other_source)}"
        folder.files.append((path, source))


class _Folder:
    """A folder of a volume: the files that have its path, and what is below it."""

    __slots__ = ("files", "folders")

    def __init__(self) -> None:
        self.files: list[Place] = []
        self.folders: dict[str, _Folder] = {}

    def below(self) -> Iterator[Place]:
        """Yield the files that are the folder itself or are below it."""
        open_folders = [self]
        while open_folders:
            folder = open_folders.pop()
            yield from folder.files
            open_folders += folder.folders.values()


def _shown(path: str, source: str) -> str:
    return f"{go_format.quote(path)} ({source})" if source else go_format.quote(path)
