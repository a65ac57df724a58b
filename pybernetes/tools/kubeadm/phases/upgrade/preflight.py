"""preflight: whether the machine, the cluster and the versions allow an upgrade, and whether it is meant."""

from __future__ import annotations

from pybernetes import KUBERNETES_VERSION
from pybernetes.tools.kubeadm.checks import run
from pybernetes.tools.kubeadm.checks.cluster import ControlPlaneNodesReady, CreateJob, StaticPodManifest
from pybernetes.tools.kubeadm.checks.images import ImagePull
from pybernetes.tools.kubeadm.checks.machine import IsPrivilegedUser, SystemVerification
from pybernetes.tools.kubeadm.checks.versions import ContainerRuntimeVersion
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.init_data import confirmed, say
from pybernetes.tools.kubeadm.upgrade import policy
from pybernetes.tools.kubeadm.upgrade.data import UpgradeData
from pybernetes.tools.kubeadm.upgrade.session import Session
from pybernetes.tools.kubeadm.workflow import Phase


async def _machine(data: UpgradeData) -> None:
    await run([IsPrivilegedUser()], data.ignored)
    registration = data.session.settings.init["nodeRegistration"]
    await run([SystemVerification(), ContainerRuntimeVersion(registration["criSocket"])], data.ignored)


async def check_cluster(session: Session, ignored: frozenset[str], *, dry_run: bool = False) -> None:
    """Check that a cluster is well enough to be upgraded."""
    say("[upgrade] Running cluster health checks")
    checks = (
        CreateJob(session.client, session.settings.cluster, dry_run=dry_run),
        ControlPlaneNodesReady(session.client),
        StaticPodManifest(dry_run=dry_run),
    )
    await run(checks, ignored)


async def _versions(data: UpgradeData) -> None:
    say(f'[upgrade/preflight] You have chosen to upgrade the cluster version to "{data.target}"')
    say(f"[upgrade/versions] Cluster version: {data.session.current}")
    say(f"[upgrade/versions] kubeadm version: {KUBERNETES_VERSION}")
    kubelets = [text for text in (await data.session.kubelets()).values() if text]
    problems = policy.problems(
        data.target, data.session.current, KUBERNETES_VERSION, kubelets,
        experimental=data.value("allow-experimental-upgrades", "allowExperimentalUpgrades"),
        candidates=data.value("allow-release-candidate-upgrades", "allowRCUpgrades"),
    )  # fmt: skip
    skipped = policy.check(problems, force=data.force)
    if skipped:
        say(skipped)


def _ask(data: UpgradeData) -> None:
    if not (data.yes or data.force or data.dry_run or confirmed("upgrade")):
        raise KubeadmError("won't proceed; the user didn't answer (Y|y) in order to continue")


async def _pull(data: UpgradeData) -> None:
    if data.dry_run:
        say("[dryrun] Would pull the required images (like 'kubeadm config images pull')")
        return
    say("[upgrade/preflight] Pulling images required for setting up a Kubernetes cluster")
    say("[upgrade/preflight] You can also perform this action beforehand using 'kubeadm config images pull'")
    pulling = {name: data.section[name] for name in ("imagePullPolicy", "imagePullSerial")}
    registration = {**data.session.settings.init["nodeRegistration"], **pulling}
    await run([ImagePull({**data.cluster, "kubernetesVersion": data.target}, registration)], data.ignored)


async def _apply(data: UpgradeData) -> None:
    say("[upgrade/preflight] Running preflight checks")
    await _machine(data)
    await check_cluster(data.session, data.ignored, dry_run=data.dry_run)
    await _versions(data)
    _ask(data)
    await _pull(data)


async def _node(data: UpgradeData) -> None:
    say("[upgrade/preflight] Running pre-flight checks")
    await _machine(data)
    if data.control_plane:
        await _pull(data)
    else:
        say("[upgrade/preflight] Skipping prepull. Not a control plane node.")


APPLY = Phase(
    "preflight",
    "Run preflight checks before upgrade",
    _apply,
    flags="allow-experimental-upgrades allow-release-candidate-upgrades config dry-run force ignore-preflight-errors "
    "kubeconfig yes",
)
NODE = Phase("preflight", "Run upgrade node pre-flight checks", _node, flags="config ignore-preflight-errors")
