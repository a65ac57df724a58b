"""What the kubelet remembers of images that it pulled: files of upstream's form, which outlive a restart."""

from __future__ import annotations

import hashlib
import logging
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import orjson

from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339
from pybernetes.lib.files import regular
from pybernetes.node.kubelet.images import pull_verification

log = logging.getLogger(__name__)
_VERSION = "kubelet.config.k8s.io/v1beta1"
_MOST_SECRETS = 100  # matching ones that are added without a pull; namespaces come and go


class PullRecords:
    """Records below a folder: ``pulling`` has an intent for each pull that began, ``pulled`` a record for each image."""

    def __init__(self, folder: Path) -> None:
        self._pulling, self._pulled = folder / "pulling", folder / "pulled"
        for directory in (self._pulling, self._pulled):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._running: Counter[str] = Counter()
        self._broken: set[str] = (
            set()
        )  # files that cannot be read: their images were pulled by somebody's secret
        self._records = {record["imageRef"]: record for record in self._read(self._pulled, "imageRef")}
        # Pulls that a kubelet before this one began: whoever asked for them, nobody knows with what credentials.
        self.unfinished = {intent["image"] for intent in self._read(self._pulling, "image")}

    def record(self, reference: str) -> Object | None:
        """Return the record of an image by the runtime's reference."""
        return self._records.get(reference)

    def is_ours(self, image: str, reference: str) -> bool:
        """Return whether the kubelet pulled an image, or may have."""
        known = reference in self._records or _name(reference) in self._broken
        return known or image in self._running or image in self.unfinished

    def begin(self, image: str) -> None:
        """Note that a pull begins."""
        if not self._running[image]:
            self._write(self._pulling / _name(image), {"kind": "ImagePullIntent", "image": image})
        self._running[image] += 1

    def end(self, image: str) -> None:
        """Note that a pull has ended, or never will."""
        self._running[image] -= 1
        if self._running[image] <= 0:
            del self._running[image]
            self.unfinished.discard(image)
            (self._pulling / _name(image)).unlink(missing_ok=True)

    def settle(self, image: str, reference: str) -> None:
        """Note what became of a pull that an earlier kubelet began; without a reference it came to nothing."""
        if reference:
            self.pulled(image, reference, {})
        self.unfinished.discard(image)
        (self._pulling / _name(image)).unlink(missing_ok=True)

    def pulled(self, image: str, reference: str, credentials: Object) -> None:
        """Note the credentials that an image was pulled with; none at all means that the next pod has to show its own."""
        mapping = dict((self._records.get(reference) or {}).get("credentialMapping") or {})
        name = pull_verification.repository(image)
        changed = pull_verification.merged(mapping.get(name), credentials)
        if reference in self._records and mapping.get(name, {}) == changed:
            return
        if changed:
            mapping[name] = changed
        record = {
            "kind": "ImagePulledRecord", "lastUpdatedTime": rfc3339.seconds(time.time()), "imageRef": reference,
            "credentialMapping": mapping,
        }  # fmt: skip
        self._write(self._pulled / _name(reference), record)
        self._records[reference] = record
        self._broken.discard(_name(reference))

    def matched(self, image: str, reference: str, credentials: Object) -> None:
        """Note credentials that were found good without a pull, so that they are next time too."""
        known = self._records[reference]["credentialMapping"].get(pull_verification.repository(image)) or {}
        if len(known.get("kubernetesSecrets") or ()) < _MOST_SECRETS:
            self.pulled(image, reference, credentials)

    def references(self) -> set[str]:
        """Return the images that there are records of."""
        return set(self._records)

    def forget(self, references: Iterable[str]) -> None:
        """Forget images that are gone."""
        for reference in references:
            self._records.pop(reference, None)
            (self._pulled / _name(reference)).unlink(missing_ok=True)

    def _read(self, folder: Path, key: str) -> Iterator[Object]:
        for path in folder.glob("sha256-*"):
            if path.suffix:
                path.unlink(missing_ok=True)  # of a write that was cut off
                continue
            try:
                record = orjson.loads(path.read_bytes())
                if _name(record[key]) != path.name or not isinstance(
                    record.get("credentialMapping", {}), dict
                ):
                    raise ValueError("it is not what its name says")
            except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
                log.warning("the record %s cannot be read: %s", path, error)
                self._broken.add(path.name)
                continue
            yield record

    def _write(self, path: Path, record: Object) -> None:
        temporary = path.with_suffix(".tmp")
        regular.rewrite(temporary, orjson.dumps({"apiVersion": _VERSION, **record}), 0o600)
        temporary.replace(path)


def _name(text: str) -> str:
    return "sha256-" + hashlib.sha256(text.encode()).hexdigest()
