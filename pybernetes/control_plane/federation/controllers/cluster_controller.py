"""Looks after the health of the members: asks each of them now and then, and writes what it found."""

from __future__ import annotations

import asyncio

from pybernetes.api.resource import Object
from pybernetes.client.errors import NotFound, StatusError
from pybernetes.client.refs import NODES
from pybernetes.control_plane.federation import health
from pybernetes.control_plane.federation.config import Config
from pybernetes.control_plane.federation.health import Judgement, Probe
from pybernetes.control_plane.federation.kinds import KUBEFED_CLUSTERS
from pybernetes.control_plane.federation.members.member import Member
from pybernetes.control_plane.federation.members.members import Members
from pybernetes.lib import rfc3339
from pybernetes.runtime.cache import split_key
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime

# A status that says the same is written again after this time, so that somebody sees when the last probe was.
_REPORT_SECONDS = 300.0
_LONGEST_VERSION, _LONGEST_MESSAGE = 64, 768  # of what a member says
_NODES = 500


class ClusterController(Controller):
    """The loop over KubeFedClusters; each comes back after the period of the probes."""

    name = "kubefedcluster"
    kind = KUBEFED_CLUSTERS
    workers = 32  # a cluster that does not answer keeps one of them busy for as long as a probe may take

    def __init__(self, runtime: Runtime, settings: Config, members: Members, namespace: str) -> None:
        super().__init__(runtime)
        self._settings, self._members, self._namespace = settings, members, namespace
        self._judgements: dict[str, Judgement] = {}
        self._reported: dict[str, float] = {}
        self._overflows: dict[str, str] = {}
        self._events = runtime.recorder("kubefedcluster-controller")
        members.listen(lambda name: self.enqueue(f"{namespace}/{name}"))

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        """Return whether what is to be probed has changed; what a probe wrote does not."""
        if old is None or new is None:
            return True
        return old["metadata"].get("generation") != new["metadata"].get("generation")

    async def reconcile(self, key: str) -> float | None:
        """Probe one cluster."""
        cluster, name = self.objects.get(key), split_key(key)[1]
        member = self._members.get(name)
        if cluster is None or member is None:
            self._judgements.pop(name, None)
            self._reported.pop(name, None)
            self._overflows.pop(name, None)
            return None
        status = cluster.get("status") or {}
        before = self._judgements.get(name) or Judgement(tuple(status.get("conditions") or ()))
        probe = await self._probe(member)
        now = rfc3339.seconds(self.clock.now())
        settings = self._settings
        after = health.judge(before, probe, settings.failure_threshold, settings.success_threshold, now)
        self._judgements[name] = after
        turned = _gist(status.get("conditions") or ()) != _gist(after.conditions)
        late = self.clock.monotonic() >= self._reported.get(name, 0.0) + _REPORT_SECONDS
        if turned or late or name not in self._reported:
            await self._report(cluster, member, after, probe, status)
            self._reported[name] = self.clock.monotonic()
        if not probe.healthy and turned:
            self._events.warning(
                cluster,
                "RetrievingClusterHealthFailed",
                f"Failed to retrieve health of the cluster: {probe.message[:_LONGEST_MESSAGE]}",
            )
        self._warn_of_overflow(cluster, member)
        return settings.probe_period

    def _warn_of_overflow(self, cluster: Object, member: Member) -> None:
        """Say once that a cluster has more than can be followed, and of what."""
        name, overflow = member.name, member.overflow
        if overflow and self._overflows.get(name) != overflow:
            text = (
                f"The cluster has more objects than there is room for, and they are not followed: {overflow}"
            )
            self._events.warning(cluster, "TooManyObjects", text)
        self._overflows[name] = overflow

    async def _probe(self, member: Member) -> Probe:
        if member.client is None:
            return Probe(usable=False, message=member.problem)
        try:
            async with asyncio.timeout(self._settings.probe_timeout):
                answer = await member.client.call("GET", "/healthz")
        except StatusError as error:
            return Probe(reachable=True, message=str(error))
        except (OSError, TimeoutError) as error:
            text = str(error) or f"no answer within {self._settings.probe_timeout:g} s"
            return Probe(message=text)
        ok = isinstance(answer, str) and answer.strip().lower() == "ok"
        return Probe(healthy=ok, reachable=True, message="" if ok else "/healthz responded without ok")

    async def _report(
        self, cluster: Object, member: Member, after: Judgement, probe: Probe, before: Object
    ) -> None:
        status: Object = {"conditions": list(after.conditions)}
        if probe.healthy and member.client is not None:
            status |= await self._facts(member)
        meta = cluster["metadata"]
        try:
            await self.client.patch(
                KUBEFED_CLUSTERS, meta["name"], {"status": status}, self._namespace, subresource="status"
            )
        except NotFound:
            pass

    async def _facts(self, member: Member) -> Object:
        """Return what is worth knowing of a cluster that is well; what it does not tell stays as it was."""
        assert member.client is not None
        facts: Object = {}
        try:
            async with asyncio.timeout(self._settings.probe_timeout):
                version = await member.client.call("GET", "/version")
                facts["kubernetesVersion"] = str(version.get("gitVersion", ""))[:_LONGEST_VERSION]
                page = await member.client.list_page(NODES, limit=_NODES, metadata_only=True)
                zones, region = health.places(node["metadata"].get("labels") or {} for node in page.items)
                facts["zones"] = zones
                if region:
                    facts["region"] = region
        except (StatusError, OSError, TimeoutError, AttributeError, KeyError):
            pass
        return facts


def _gist(conditions: object) -> list[tuple[str, str]]:
    return [(row["type"], row["status"]) for row in conditions]  # type: ignore[attr-defined]
