"""check-etcd: whether the members that are there answer, before a new one is announced."""

from __future__ import annotations

from pybernetes.tools.kubeadm import etcd_cluster, etcd_pod
from pybernetes.tools.kubeadm.init_data import say
from pybernetes.tools.kubeadm.join_data import JoinData
from pybernetes.tools.kubeadm.workflow import Phase


async def _run(data: JoinData) -> None:
    if data.control_plane is None:
        return
    settings = await data.settings()
    if "local" not in settings.cluster["etcd"]:
        return
    say("[check-etcd] Checking that the etcd cluster is healthy")
    if data.dry_run:
        say("[check-etcd] Would check that the etcd cluster is healthy")
        return
    servers = await etcd_cluster.endpoints(await data.admin_client())
    seconds = data.seconds("etcdAPICall")
    async with etcd_cluster.members(servers, data.folders.certificates, seconds) as members:
        await members.check_health()
        await members.wait_for_room(etcd_pod.peer_url(data.address))


PHASE = Phase("check-etcd", "Check cluster health for etcd", _run, hidden=True)
