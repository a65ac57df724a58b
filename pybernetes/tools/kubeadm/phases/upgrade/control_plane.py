"""control-plane: new certificates, and new manifests one by one."""

from __future__ import annotations

from pathlib import Path

from pybernetes.api.text import durations
from pybernetes.tools.kubeadm import renewal
from pybernetes.tools.kubeadm.certificate_list import Subject
from pybernetes.tools.kubeadm.init_data import say
from pybernetes.tools.kubeadm.locations import KUBERNETES, MANIFESTS
from pybernetes.tools.kubeadm.upgrade import manifests
from pybernetes.tools.kubeadm.upgrade.data import UpgradeData
from pybernetes.tools.kubeadm.workflow import Phase


async def _run(data: UpgradeData) -> None:
    if not data.control_plane:
        say("[upgrade/control-plane] Skipping phase. Not a control plane node.")
        return
    data.cluster["kubernetesVersion"] = data.target
    settings = data.session.settings
    texts = manifests.wanted(settings, data.patches, etcd=data.value("etcd-upgrade", "etcdUpgrade"))
    if data.dry_run:
        say(f'[dryrun] Would upgrade your static Pod-hosted control plane to version "{data.target}"')
        for component, text in texts.items():
            say(f'[dryrun] Would write file "{MANIFESTS / component}.yaml" with content:\n{text}')
        return
    seconds = durations.parse_duration(data.session.upgrade["timeouts"]["upgradeManifests"])
    say(f'[upgrade/control-plane] Upgrading your static Pod-hosted control plane to version "{data.target}"')
    if data.value("certificate-renewal", "certificateRenewal"):
        _renew(data)
    await manifests.apply(data.session.objects, settings, texts, seconds)
    say("[upgrade/control-plane] The control plane instance for this node was successfully upgraded!")


def _renew(data: UpgradeData) -> None:
    endpoint = data.session.settings.init["localAPIEndpoint"]
    folder = Path(data.cluster["certificatesDir"])
    if not (folder / "ca.key").exists():
        say("[upgrade/staticpods] External CA detected, certificates can't be renewed")
        return
    subject = Subject(data.cluster, data.node, endpoint["advertiseAddress"])
    where = renewal.Place(subject, endpoint["bindPort"], folder, KUBERNETES)
    for name in renewal.all_names(where):
        say(f"[upgrade/staticpods] Renewing {name} certificate")
        renewal.renew(where, name)


PHASE = Phase(
    "control-plane",
    "Upgrade the control plane",
    _run,
    flags="certificate-renewal config dry-run etcd-upgrade kubeconfig patches",
)
