"""Which pods may use which of the images that are on the node: the policy, on top of the records."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager

from pybernetes.node.kubelet.cri.messages import Message
from pybernetes.node.kubelet.images import pull_verification
from pybernetes.node.kubelet.images.pull_records import PullRecords
from pybernetes.node.kubelet.images.registry_credentials import Credential


class ImageAccess:
    """The policy of the kubelet's configuration, and what was pulled so far."""

    def __init__(self, records: PullRecords, policy: str, allowlist: Sequence[str] = ()) -> None:
        self.records, self._policy, self._allowlist = records, policy, tuple(allowlist)

    def allows(self, image: str, reference: str, credentials: Sequence[Credential]) -> bool:
        """Return whether a pod with these credentials may use an image that is there without pulling it."""
        ours = self.records.is_ours(image, reference)
        if not pull_verification.asks_for_credentials(self._policy, self._allowlist, image, ours):
            return True
        secrets = [credential.secret for credential in credentials]
        matching = pull_verification.match(self.records.record(reference), image, secrets)
        if matching is None:
            return False
        self.records.matched(image, reference, matching)
        return True

    @contextmanager
    def pulling(self, image: str) -> Iterator[None]:
        """Note that an image is being pulled: should the kubelet end meanwhile, it is nobody's."""
        self.records.begin(image)
        try:
            yield
        finally:
            self.records.end(image)

    def pulled(self, image: str, reference: str, credential: Credential | None) -> None:
        """Note with what an image was pulled; what needed nothing is for everybody."""
        shown = {"kubernetesSecrets": [credential.secret]} if credential else {"nodePodsAccessible": True}
        self.records.pulled(image, reference, shown)

    async def settle(self, find: Callable[[str], Awaitable[Message | None]]) -> None:
        """Find out what became of pulls that an earlier kubelet began and did not see the end of."""
        for image in list(self.records.unfinished):
            pulled = await find(image)
            self.records.settle(image, pulled.id if pulled is not None else "")
