"""etcd: the manifest of the first member, where etcd is a part of the control plane."""

from __future__ import annotations

from pathlib import Path

from pybernetes.tools.kubeadm import etcd_pod, patches, static_pods
from pybernetes.tools.kubeadm.configuration.printing import to_yaml
from pybernetes.tools.kubeadm.init_data import InitData, say
from pybernetes.tools.kubeadm.locations import MANIFESTS
from pybernetes.tools.kubeadm.workflow import Phase


async def _local(data: InitData) -> None:
    local = data.cluster["etcd"].get("local")
    if local is None:
        say("[etcd] External etcd mode: Skipping the creation of a manifest for local etcd")
        return
    if data.dry_run:
        say(f'[etcd] Would ensure that "{local["dataDir"]}" directory is present')
    else:
        Path(local["dataDir"]).mkdir(parents=True, exist_ok=True, mode=0o700)
    say(f'[etcd] Creating static Pod manifest for local etcd in "{data.folders.manifests}"')
    timeout = data.init["timeouts"]["controlPlaneComponentHealthCheck"]
    pod = patches.patched(
        "etcd", etcd_pod.member(data.cluster, data.address, data.node, timeout), data.patches, say
    )
    static_pods.write(data.folders.manifests, "etcd", pod)
    if data.dry_run:
        say(f'[dryrun] Would write file "{MANIFESTS / "etcd.yaml"}" with content:\n{to_yaml(pod)}')


PHASE = Phase(
    "etcd",
    "Generate static Pod manifest file for local etcd",
    None,
    (
        Phase(
            "local",
            "Generate the static Pod manifest file for a local, single-node local etcd instance",
            _local,
            flags="cert-dir config dry-run image-repository patches",
        ),
    ),
)
