"""What volumes need from the kubelet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.client import Client
from pybernetes.lib.clock import Clock
from pybernetes.node.kubelet.object_cache import ObjectCache
from pybernetes.node.kubelet.volumes.errors import VolumeError

CredentialKey = tuple[str | int, ...]  # begins with the uid of the pod


@dataclass(frozen=True, slots=True)
class Credential:
    """A token or a certificate that a pod was given, and that must be renewed."""

    parts: tuple[bytes, ...]
    renew_at: float
    expires_at: float


@dataclass(slots=True)
class PendingCertificate:
    """A PodCertificateRequest under way, the private key that goes with it, and why it was refused."""

    name: str
    key: bytes
    refusal: str = ""


@dataclass(slots=True)
class VolumeInputs:
    """What volumes need from the kubelet."""

    directory: Path  # of all pods
    client: Client | None
    objects: ObjectCache | None
    clock: Clock
    node: Callable[[], Object]
    addresses: Callable[[str], tuple[str, ...]] = lambda uid: ()
    host: Callable[[], tuple[str, ...]] = lambda: ()
    credentials: dict[CredentialKey, Credential] = field(default_factory=dict)
    pending: dict[CredentialKey, PendingCertificate] = field(default_factory=dict)

    def api(self) -> ObjectCache:
        """Return the cache of API objects; raise VolumeError if this kubelet has no API server."""
        if self.objects is None:
            raise VolumeError("this kubelet has no API server to ask")
        return self.objects

    def forget(self, uid: str) -> None:
        """Forget the credentials of a pod that is gone."""
        self.credentials = {key: value for key, value in self.credentials.items() if key[0] != uid}
        self.pending = {key: value for key, value in self.pending.items() if key[0] != uid}
