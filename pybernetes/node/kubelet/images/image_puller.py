"""Pulls images when containers need them: pull policies, credentials, and a back-off after failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pybernetes.api.core.pod import image_names
from pybernetes.api.resource import Object
from pybernetes.client.rate_limiter import RateLimiter
from pybernetes.lib.clock import Clock
from pybernetes.node.kubelet.backoff import Backoff
from pybernetes.node.kubelet.cri.client import CriClient, CriError
from pybernetes.node.kubelet.cri.messages import Message
from pybernetes.node.kubelet.images.image_access import ImageAccess
from pybernetes.node.kubelet.images.pull_records import PullRecords
from pybernetes.node.kubelet.images.registry_credentials import Credential, credentials, with_registry

_ERROR_SECONDS = 1.0  # how long a container reports ErrImagePull before it reports ImagePullBackOff
Report = Callable[[str, str, str], None]  # type, reason, message of an event


class ImageError(Exception):
    """An image is not available; ``reason`` is why the container waits."""

    def __init__(self, reason: str, message: str, retry: float = 0.0) -> None:
        super().__init__(message)
        self.reason, self.message, self.retry = reason, message, retry


@dataclass(slots=True)
class _Slot:
    """The pulls from one registry: how many more may begin, and how many there are with those that wait."""

    free: asyncio.Semaphore
    users: int = 0


class ImagePuller:
    """Pulls the images of a node's pods: with ``serialize`` one at a time, else ``parallel`` (0 for any number).

    No more than ``qps`` pulls begin in a second, and ``burst`` at once; those beyond fail and are tried again later.
    Each registry is counted for itself. Whoever names an image chooses its registry, and one that sends a byte now and
    then would keep all other images from the node.
    """

    def __init__(
        self, cri: CriClient, clock: Clock, access: ImageAccess, *, serialize: bool = True, parallel: int = 0,
        qps: float = 0, burst: int = 1,
    ) -> None:  # fmt: skip
        self._cri, self._clock, self._access = cri, clock, access
        self._backoff = Backoff()
        self._limiter = RateLimiter(qps, max(1, burst), clock) if qps > 0 else None
        self._at_once = 1 if serialize else parallel or 1000
        self._slots: dict[str, _Slot] = {}  # by registry, as long as something is pulled from there
        self._pulls: dict[
            str, tuple[float, float]
        ] = {}  # when the first pull of a pod began and the last one ended
        self._failures: dict[tuple[str, str], tuple[float, str]] = {}  # when and why a pull failed

    @property
    def records(self) -> PullRecords:
        """What is remembered of pulls."""
        return self._access.records

    async def ensure(
        self,
        uid: str,
        image: str,
        policy: str,
        secrets: list[Object],
        sandbox_config: Message,
        report: Report,
    ) -> Message:
        """Return the image, pulled if the policy says so; raise ImageError if it is not available."""
        if image_names.parse(image) is None:
            message = f'couldn\'t parse image name "{image}": invalid reference format'
            raise self._invalid_name(image, message, report)
        present = await self._present(image, report)
        candidates = credentials(image, secrets)
        if present is not None and policy != "Always":
            await self._access.settle(self._cri.image_status)
            if not self._access.allows(image, present.id, candidates):
                present = None  # nor is a pod told that it is there
        if policy == "Never" and present is None:
            message = f'Container image "{image}" is not present with pull policy of Never'
            report("Warning", "ErrImageNeverPull", message)
            raise ImageError("ErrImageNeverPull", message)
        if present is not None and policy != "Always":
            report(
                "Normal",
                "Pulled",
                f'Container image "{image}" already present on machine and can be accessed by the pod',
            )
            return present
        key = (uid, image)
        now = self._clock.monotonic()  # a clock that is set back is no reason to wait for longer
        failure = self._failures.get(key)
        left = self._backoff.delay(key) - (now - failure[0]) if failure is not None else 0.0
        if left > 0:
            message = f'Back-off pulling image "{image}"'
            report("Normal", "BackOff", message)
            assert failure is not None
            raise ImageError("ImagePullBackOff", f"{message}: {failure[1]}", left)
        report("Normal", "Pulling", f'Pulling image "{image}"')
        started = self._clock.monotonic()
        try:
            async with self._turn(image):
                begun = self._clock.monotonic()
                pulled = await self._pull(image, candidates, sandbox_config, report)
        except CriError as error:
            message = f'failed to pull image "{image}": {error.message}'
            report("Warning", "Failed", f'Failed to pull image "{image}": {error.message}')
            now = self._clock.monotonic()
            self._backoff.next(key, now, now)
            self._failures[key] = (now, f"ErrImagePull: {error.message}")
            raise ImageError("ErrImagePull", message, _ERROR_SECONDS) from None
        self._failures.pop(key, None)
        self._pulls[uid] = (self._pulls.get(uid, (started, 0.0))[0], self._clock.monotonic())
        took, whole = self._clock.monotonic() - begun, self._clock.monotonic() - started
        size = pulled.size if pulled is not None else 0
        report(
            "Normal",
            "Pulled",
            f'Successfully pulled image "{image}" in {took * 1000:.0f}ms ({whole * 1000:.0f}ms including waiting). Image size: {size} bytes.',
        )
        if pulled is None:
            raise ImageError("ImageInspectError", f'the image "{image}" is not there after it was pulled')
        return pulled

    @asynccontextmanager
    async def _turn(self, image: str) -> AsyncIterator[None]:
        """Wait for a pull's turn among those of its registry."""
        registry = with_registry(image).partition("/")[0]
        slot = self._slots.setdefault(registry, _Slot(asyncio.Semaphore(self._at_once)))
        slot.users += 1
        try:
            async with slot.free:
                yield
        finally:
            slot.users -= 1
            if not slot.users:
                del self._slots[registry]

    async def _present(self, image: str, report: Report) -> Message | None:
        try:
            return await self._cri.image_status(image)
        except CriError as error:
            if error.code == "INVALID_ARGUMENT" or "invalid reference" in error.message:
                raise self._invalid_name(image, error.message, report) from None
            raise

    def _invalid_name(self, image: str, why: str, report: Report) -> ImageError:
        message = f'Failed to apply default image tag "{image}": {why}'
        report("Warning", "InspectFailed", message)
        return ImageError("InvalidImageName", message)

    async def _pull(
        self, image: str, candidates: list[Credential], sandbox_config: Message, report: Report
    ) -> Message | None:
        """Pull an image with the first credentials that the registry takes, and note which they were."""
        failure: CriError | None = None
        if self._limiter is not None and not self._limiter.take():
            raise CriError("RESOURCE_EXHAUSTED", "pull QPS exceeded")
        with self._access.pulling(image):
            tries: Sequence[Credential | None] = candidates or [None]
            for candidate in tries:
                try:
                    await self._cri.pull_image(image, candidate.auth if candidate else None, sandbox_config)
                except CriError as error:
                    failure = error
                    continue
                pulled = await self._present(image, report)
                if pulled is not None:
                    self._access.pulled(image, pulled.id, candidate)
                return pulled
        assert failure is not None
        raise failure

    def pull_seconds(self, uid: str) -> float:
        """Return how long a pod waited for its images, from the first pull that succeeded to the end of the last."""
        first, last = self._pulls.get(uid, (0.0, 0.0))
        return last - first

    def forget(self, uid: str) -> None:
        """Forget a pod that is gone."""
        self._backoff.forget(uid)
        self._pulls.pop(uid, None)
        for key in [key for key in self._failures if key[0] == uid]:
            del self._failures[key]
