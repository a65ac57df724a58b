"""etcd-join: a new member, which learns first and votes once it has caught up."""

from __future__ import annotations

from pathlib import Path

from pybernetes.tools.kubeadm import etcd_cluster, etcd_pod, patches, static_pods
from pybernetes.tools.kubeadm.init_data import say
from pybernetes.tools.kubeadm.join_data import JoinData
from pybernetes.tools.kubeadm.workflow import Phase


async def _run(data: JoinData) -> None:
    if data.control_plane is None:
        return
    settings = await data.settings()
    local = settings.cluster["etcd"].get("local")
    if local is None:
        return
    timeout = data.configuration["timeouts"]["controlPlaneComponentHealthCheck"]
    if data.dry_run:
        say("[etcd] Would add etcd member: " + etcd_pod.peer_url(data.address))
        return
    Path(local["dataDir"]).mkdir(parents=True, exist_ok=True, mode=0o700)
    servers = await etcd_cluster.endpoints(await data.admin_client())
    async with etcd_cluster.members(
        servers, data.folders.certificates, data.seconds("etcdAPICall")
    ) as members:
        url = etcd_pod.peer_url(data.address)
        learner = await members.add_learner(url)
        say("[etcd] Announced new etcd member joining to the existing etcd cluster")
        initial = {
            member.name or data.node: member.peer_urls[0]
            for member in await members.listed()
            if member.peer_urls
        }
        initial[data.node] = url
        say('[etcd] Creating static Pod manifest for "etcd"')
        pod = etcd_pod.member(settings.cluster, data.address, data.node, timeout, initial)
        static_pods.write(data.folders.manifests, "etcd", patches.patched("etcd", pod, data.patches, say))
        say("[etcd] Waiting for the new etcd member to join the cluster. This can take up to 40s")
        await members.promote(learner.id)


PHASE = Phase(
    "etcd-join",
    "Join etcd for control plane nodes",
    _run,
    flags="apiserver-advertise-address config control-plane dry-run node-name patches",
)
