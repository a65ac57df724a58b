"""kubeadm upgrade: another version of the control plane, one machine and one pod after the other."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable
from pathlib import Path

from pybernetes import KUBERNETES_VERSION
from pybernetes.api.resource import Object
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import PODS
from pybernetes.lib.flags import Flag
from pybernetes.tools.image.names import installed_etcd_tag
from pybernetes.tools.kubeadm import command_line, kubeconfig_files, output, workflow
from pybernetes.tools.kubeadm.checks import run
from pybernetes.tools.kubeadm.checks.check import ignored_names
from pybernetes.tools.kubeadm.checks.machine import IsPrivilegedUser
from pybernetes.tools.kubeadm.command_line import Arguments, Command
from pybernetes.tools.kubeadm.configuration import loading
from pybernetes.tools.kubeadm.configuration.printing import shown, to_yaml
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.init_data import say
from pybernetes.tools.kubeadm.locations import ADMIN, NAMESPACE
from pybernetes.tools.kubeadm.phases.upgrade import APPLY, NODE, preflight
from pybernetes.tools.kubeadm.upgrade import manifests, plan
from pybernetes.tools.kubeadm.upgrade.data import UpgradeData, flag_or_field, opened
from pybernetes.tools.kubeadm.upgrade.session import Session, configuration, session

SUMMARY = "Upgrade your cluster smoothly to a newer version with this command"
_KUBECONFIG = Flag("kubeconfig", "", "The kubeconfig file to use when talking to the cluster.")
_PRINT_CONFIG = Flag("print-config", False, "Whether the configuration file that is used is printed.")
_ETCD = Flag("etcd-upgrade", True, "Perform the upgrade of etcd.")
_UNSTABLE = (
    Flag("allow-experimental-upgrades", False, "Show and allow upgrades to unstable versions."),
    Flag("allow-release-candidate-upgrades", False, "Show and allow upgrades to release candidates."),
)
_NODE = (
    command_line.CONFIG,
    command_line.DRY_RUN,
    command_line.IGNORE,
    command_line.PATCHES,
    command_line.SKIP_PHASES,
    _KUBECONFIG,
    _ETCD,
    Flag(
        "certificate-renewal",
        True,
        "Perform the renewal of certificates used by component changed during upgrades.",
    ),
)
_APPLY = (
    *_NODE,
    *_UNSTABLE,
    _PRINT_CONFIG,
    Flag("force", False, "Force upgrading although some requirements might not be met; asks nothing."),
    Flag("yes", False, "Perform the upgrade and do not prompt for confirmation."),
)


def _run_phases(
    action: str, phases: tuple[workflow.Phase, ...]
) -> Callable[[Arguments, tuple[str, ...]], None]:
    async def work(arguments: Arguments, names: tuple[str, ...]) -> None:
        async with opened(arguments, action, alone=bool(names)) as data:
            if data.value("print-config", "printConfig"):
                _print_config(data.session)
            if names:
                await workflow.run_one(phases, names, data)
                return
            await workflow.run(phases, data, arguments.skip_phases or data.section.get("skipPhases") or ())
            _tell(action, data)

    return lambda arguments, names: asyncio.run(work(arguments, names))


def _tell(action: str, data: UpgradeData) -> None:
    if data.dry_run:
        say("[upgrade/successful] Finished dryrunning successfully!")
    elif action == "apply":
        say(f'\n[upgrade] SUCCESS! A control plane node of your cluster was upgraded to "{data.target}".\n')
        say("[upgrade] Now please proceed with upgrading the rest of the nodes by following the right order.")


def _print_config(shared: Session) -> None:
    say("[upgrade/config] Configuration used:")
    for line in to_yaml(shown(shared.settings.cluster)).splitlines():
        say(f"\t{line}")


def _plan(arguments: Arguments) -> None:
    show = output.printer(arguments, plan.text)
    # What programs read is the plan alone.
    with contextlib.redirect_stdout(sys.stdout if output.is_text(arguments) else sys.stderr):
        made = asyncio.run(_make_plan(arguments))
    show(made)


async def _make_plan(arguments: Arguments) -> Object:
    upgrade = configuration(arguments)
    section = upgrade["plan"]
    value = flag_or_field(arguments, section)
    ignored = ignored_names(arguments.ignore_preflight_errors, section.get("ignorePreflightErrors") or ())
    wanted = (arguments.words[0] if arguments.words else "") or section.get("kubernetesVersion") or ""
    path = Path(arguments.kubeconfig or ADMIN)
    kubeconfig_files.load_for_client(path)
    say("[preflight] Running pre-flight checks.")
    await run([IsPrivilegedUser()], ignored)
    async with session(path, upgrade, "upgrade/config") as shared:
        await preflight.check_cluster(shared, ignored, dry_run=bool(section.get("dryRun")))
        if value("print-config", "printConfig"):
            _print_config(shared)
        target = loading.release(wanted or KUBERNETES_VERSION)
        say("[upgrade] Fetching available versions to upgrade to")
        say(f"[upgrade/versions] Cluster version: {shared.current.removeprefix('v')}")
        say(f"[upgrade/versions] kubeadm version: {KUBERNETES_VERSION}")
        say(f"[upgrade/versions] Target version: {target}")
        series = ".".join(shared.current.split(".")[:2])
        say(f"[upgrade/versions] Latest version in the {series} series: {target}")
        allowed = value("allow-experimental-upgrades", "allowExperimentalUpgrades") or (
            "-rc" in target and value("allow-release-candidate-upgrades", "allowRCUpgrades")
        )
        if "-" in target and not wanted and not allowed:
            target = shared.current
        description = plan.description(shared.current, target, named=bool(wanted))
        local = "local" in shared.settings.cluster["etcd"] and value("etcd-upgrade", "etcdUpgrade")
        return plan.plan(await _versions(shared), target, description, installed_etcd_tag() if local else "")


async def _versions(shared: Session) -> plan.Versions:
    names = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd")
    images = {name: await _images(shared, name) for name in names}
    dns = next(iter((await _images(shared, "coredns", "k8s-app=kube-dns")).values()), "")
    return plan.Versions(shared.current, dns, await shared.kubelets(), images, images["etcd"])


async def _images(shared: Session, component: str, labels: str = "") -> dict[str, str]:
    """Return the tags of the images that a component has, by node."""
    labels = labels or f"component={component},tier=control-plane"
    try:
        page = await shared.client.list(PODS, NAMESPACE, labels=labels)
    except (StatusError, OSError) as error:
        raise KubeadmError(f"couldn't list the pods of {component}: {error}") from None
    return {
        (pod.get("spec") or {}).get("nodeName", ""): str(container.get("image", "")).rpartition(":")[2].replace("_", "+")
        for pod in page.items
        for container in (pod.get("spec") or {}).get("containers") or ()
        if container.get("name") == component
    }  # fmt: skip


def _diff(arguments: Arguments) -> None:
    asyncio.run(_show_difference(arguments))


async def _show_difference(arguments: Arguments) -> None:
    upgrade = configuration(arguments)
    value = flag_or_field(arguments, upgrade["diff"])
    wanted = (arguments.words[0] if arguments.words else "") or upgrade["diff"].get("kubernetesVersion") or ""
    manifests.check_present()
    async with session(Path(arguments.kubeconfig or ADMIN), upgrade, "upgrade/diff") as shared:
        shared.settings.cluster["kubernetesVersion"] = loading.release(wanted or shared.current)
        for component, text in manifests.wanted(shared.settings, None, etcd=False).items():
            print(manifests.difference(component, text, value("context-lines", "contextLines")), end="")


_work_apply, _work_node = _run_phases("apply", APPLY), _run_phases("node", NODE)
_SINGLE = 'Use this command to invoke single phase of the "{}" workflow'
_APPLY_SUMMARY = "Upgrade your Kubernetes cluster to the specified version"
_NODE_SUMMARY = "Upgrade commands for a node in the cluster"
COMMAND = Command(
    "upgrade",
    SUMMARY,
    commands=(
        Command(
            "apply",
            _APPLY_SUMMARY,
            lambda arguments: _work_apply(arguments, ()),
            _APPLY,
            (workflow.command(_SINGLE.format("apply"), APPLY, _APPLY, _work_apply),),
            words="[version]",
            most=1,
            demanded=True,
            about=f"{_APPLY_SUMMARY}\n\n{workflow.listing(APPLY, 'apply [version]')}",
        ),
        Command(
            "diff",
            "Show what differences would be applied to existing static pod manifests. See also: kubeadm upgrade apply --dry-run",
            _diff,
            (
                command_line.CONFIG,
                Flag("context-lines", 3, "How many lines of context in the diff"),
                _KUBECONFIG,
            ),
            words="[version]",
            most=1,
        ),
        Command(
            "node",
            _NODE_SUMMARY,
            lambda arguments: _work_node(arguments, ()),
            _NODE,
            (workflow.command(_SINGLE.format("node"), NODE, _APPLY, _work_node),),
            about=f"{_NODE_SUMMARY}\n\n{workflow.listing(NODE, 'node')}",
            others=_APPLY,
        ),
        Command(
            "plan",
            "Check which versions are available to upgrade to and validate whether your current cluster is upgradeable.",
            _plan,
            (
                *_UNSTABLE,
                command_line.CONFIG,
                _ETCD,
                command_line.IGNORE,
                _KUBECONFIG,
                _PRINT_CONFIG,
                *output.FLAGS,
            ),
            words="[version]",
            most=1,
        ),
    ),
)
