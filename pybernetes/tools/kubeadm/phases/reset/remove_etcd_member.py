"""remove-etcd-member: the others go on without this machine's member."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.api.text import yaml_reader
from pybernetes.client import kubeconfig
from pybernetes.tools.kubeadm import etcd_cluster
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.init_data import say
from pybernetes.tools.kubeadm.reset_data import ResetData
from pybernetes.tools.kubeadm.workflow import Phase

_FLAG = "--initial-advertise-peer-urls="


def parts(manifest: Object) -> tuple[str, str]:
    """Return the folder of a member's data and where the others reach it, from its manifest."""
    volumes = {volume["name"]: volume for volume in manifest["spec"].get("volumes") or ()}
    folder = ((volumes.get("etcd-data") or {}).get("hostPath") or {}).get("path", "")
    command = manifest["spec"]["containers"][0]["command"]
    url = next((word.removeprefix(_FLAG) for word in command if word.startswith(_FLAG)), "")
    return str(folder), url


async def _run(data: ResetData) -> None:
    path = data.folders.manifests / "etcd.yaml"
    if not path.exists():
        say("[reset] No etcd config found. Assuming external etcd")
        say("[reset] Please, manually reset etcd to prevent further issues")
        return
    try:
        folder, url = parts(yaml_reader.loads(path.read_bytes())[0])
    except (KeyError, TypeError, IndexError, yaml_reader.YamlError) as error:
        raise KubeadmError(f"the manifest {path} is not kubeadm's: {error}") from None
    if folder:
        data.emptied.append(Path(folder))
    if data.dry_run:
        say("[dryrun] Would remove the etcd member on this node from the etcd cluster")
        return
    try:
        await _leave(data, url)
    except KubeadmError as error:
        say(f"[reset] Failed to remove etcd member: {error}")
        say("[reset] Please manually remove this etcd member with 'etcdctl member remove'")


async def _leave(data: ResetData, url: str) -> None:
    certificates = Path(data.configuration["certificatesDir"])
    servers: list[str] = []
    if data.kubeconfig.exists():
        try:
            async with (
                asyncio.timeout(data.seconds("kubernetesAPICall")),
                kubeconfig.load(data.kubeconfig).client(user_agent="kubeadm") as client,
            ):
                servers = await etcd_cluster.endpoints(client)
        except (kubeconfig.ConfigError, KubeadmError, TimeoutError) as error:
            say(f"[reset] The API server does not tell the members of etcd: {error or 'it does not answer'}")
    # The member itself knows the others.
    async with etcd_cluster.members(
        [*servers, "https://127.0.0.1:2379"], certificates, data.seconds("etcdAPICall")
    ) as members:
        listed = await members.listed()
        own = next((member for member in listed if url in member.peer_urls), None)
        if own is None:
            return
        if len(listed) == 1:
            say("[reset] This is the only remaining etcd member in the etcd cluster, skip removing it")
            return
        say(f"[reset] Removing the etcd member {own.name or own.id} from the cluster")
        await members.remove(own.id)


PHASE = Phase("remove-etcd-member", "Remove a local etcd member.", _run, flags="dry-run kubeconfig")
