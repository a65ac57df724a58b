"""All clusters of the federation, as the KubeFedClusters of the host and their secrets say."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from pybernetes.api.resource import Object
from pybernetes.client.refs import SECRETS
from pybernetes.control_plane.federation import health
from pybernetes.control_plane.federation.kinds import KUBEFED_CLUSTERS
from pybernetes.control_plane.federation.members import access
from pybernetes.control_plane.federation.members.member import CALLS_AT_ONCE, Member, Watched
from pybernetes.control_plane.federation.versions import digest
from pybernetes.runtime.background import BackgroundTasks
from pybernetes.runtime.runtime import Runtime

log = logging.getLogger(__name__)
_CLOSE_SECONDS = 5.0
# Told of a cluster that joined, left, became ready or not, or has other labels.
Listener = Callable[[str], None]


class Members:
    """The members by their names. Their number may change at any time."""

    def __init__(self, runtime: Runtime, namespace: str) -> None:
        self._clock, self._host = runtime.clock, runtime.client
        self._clusters = runtime.informers.get(KUBEFED_CLUSTERS, namespace)
        self._secrets = runtime.informers.get(SECRETS, namespace)
        self._namespace = namespace
        self._members: dict[str, Member] = {}
        self._identities: dict[str, str] = {}
        self._watched: list[Watched] = []
        self._listeners: list[Listener] = []
        self._background = BackgroundTasks("members")
        self._clusters.add_handler(self._cluster_changed)
        self._secrets.add_handler(self._secret_changed)

    def __iter__(self) -> Iterator[Member]:
        return iter(list(self._members.values()))

    def __len__(self) -> int:
        return len(self._members)

    def get(self, name: str) -> Member | None:
        """Return a member, if there is one of that name."""
        return self._members.get(name)

    def labels(self) -> dict[str, dict[str, str]]:
        """Return the labels of all clusters, by their names."""
        return {name: member.labels for name, member in self._members.items()}

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call a function when something about a cluster changes; return what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def watch(self, watched: Watched) -> None:
        """Follow a kind in every member, those that join later, too."""
        self._watched.append(watched)
        for member in self:
            member.watch(watched)

    async def unwatch(self, watched: Watched) -> None:
        """Follow a kind no longer."""
        self._watched.remove(watched)
        for member in self:
            await member.unwatch(watched)

    async def wait_synced(self) -> None:
        """Wait until it is known which clusters there are."""
        await self._clusters.wait_synced()
        await self._secrets.wait_synced()

    async def close(self) -> None:
        """Let go of all members."""
        for member in self:
            await member.close()
        self._members.clear()
        await self._background.close(_CLOSE_SECONDS)

    # -- changes -----------------------------------------------------------------------------------------

    def _cluster_changed(self, old: Object | None, new: Object | None) -> None:
        name = (new or old or {})["metadata"]["name"]
        if new is None:
            self._drop(name)
        else:
            self._refresh(name, new)
            member = self._members[name]
            ready, labels = health.is_ready(new), new["metadata"].get("labels") or {}
            if (ready, labels) == (member.ready, member.labels) and old is not None:
                return
            if ready and not member.ready:
                member.came_back()
            member.ready, member.labels = ready, labels
        self._tell(name)

    def _secret_changed(self, old: Object | None, new: Object | None) -> None:
        changed = (new or old or {})["metadata"]["name"]
        for cluster in self._clusters.values():
            if cluster["spec"]["secretRef"]["name"] == changed:
                name = cluster["metadata"]["name"]
                if self._refresh(name, cluster):
                    self._tell(name)

    def _refresh(self, name: str, cluster: Object) -> bool:
        """Make a member anew if what it is reached by has changed; return whether it was."""
        secret = self._secrets.get(f"{self._namespace}/{cluster['spec']['secretRef']['name']}")
        data = (secret or {}).get("data")
        identity = digest([cluster["spec"], cluster["metadata"].get("uid"), data])
        if self._identities.get(name) == identity:
            return False
        before = self._members.get(name)
        self._drop(name)
        problem, client = "", None
        try:
            client = access.client_of(cluster, secret, CALLS_AT_ONCE)
            client.guard = self._host.guard  # whoever leads no longer writes nowhere any more
        except ValueError as error:
            problem = str(error)
        member = Member(name, client, self._clock, problem)
        if before is not None:
            member.ready, member.labels = before.ready, before.labels
        self._members[name], self._identities[name] = member, identity
        for watched in self._watched:
            member.watch(watched)
        return True

    def _drop(self, name: str) -> None:
        self._identities.pop(name, None)
        member = self._members.pop(name, None)
        if member is not None:
            self._background.start(member.close())

    def _tell(self, name: str) -> None:
        for listener in list(self._listeners):
            listener(name)
