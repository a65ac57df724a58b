"""kubelet-start: tells the kubelet what to do and how to ask for its certificate, and starts it."""

from __future__ import annotations

from pathlib import Path

from pybernetes.client.refs import NODES
from pybernetes.lib.tls.tls import write_atomically
from pybernetes.tools.kubeadm import arguments, kubeconfig_files, kubelet_files, kubelet_service, patches
from pybernetes.tools.kubeadm.configuration.component_configs import KUBELET
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.init_data import say
from pybernetes.tools.kubeadm.join_data import JoinData
from pybernetes.tools.kubeadm.phases.join._flags import DISCOVERY, ENDPOINT
from pybernetes.tools.kubeadm.workflow import Phase


async def _run(data: JoinData) -> None:
    settings = await data.settings()
    bootstrap = await data.bootstrap()
    await _refuse_known(data)
    kubeconfig_files.write(data.folders.kubernetes / "bootstrap-kubelet.conf", bootstrap)
    authority = (
        data.folders.certificates / "ca.crt" if data.dry_run else Path(data.configuration["caCertPath"])
    )
    if not authority.exists():
        authority.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        write_atomically(authority, await data.authority())
    if data.dry_run:
        say("[kubelet-start] Would stop the kubelet")
    else:
        kubelet_service.stop(data.folders.kubelet)
    config = patches.patched("kubeletconfiguration", settings.components[KUBELET], data.patches, say)
    kubelet_files.write_config(data.folders.kubelet, config, data.registration, say)
    kubelet_files.write_flags(
        data.folders.kubelet, data.registration, register_taints=data.control_plane is None, say=say
    )
    if data.dry_run:
        say("[kubelet-start] Would start the kubelet")
        return
    say("[kubelet-start] Starting the kubelet")
    data.changed = True
    kubelet_service.start(data.folders.kubelet)


async def _refuse_known(data: JoinData) -> None:
    """Refuse the name of a node that runs: two kubelets would take turns in breaking each other."""
    name = arguments.value(data.registration.get("kubeletExtraArgs"), "hostname-override") or data.node
    node = await (await data.objects()).get(NODES, name)
    conditions = ((node or {}).get("status") or {}).get("conditions") or ()
    if any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions):
        raise KubeadmError(
            f'a Node with name "{name}" and status "Ready" already exists in the cluster. You must delete the existing Node or '
            "change the name of this new joining Node"
        )


PHASE = Phase(
    "kubelet-start",
    "Write kubelet settings, certificates and (re)start the kubelet",
    _run,
    flags=f"config cri-socket dry-run node-name patches {DISCOVERY}",
    words=ENDPOINT,
)
