"""kubeadm upgrade: another version of the control plane, one machine and one pod after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from pybernetes import KUBERNETES_VERSION
from pybernetes.api.text import durations
from pybernetes.lib.flags import Flag
from pybernetes.tools.kubeadm import command_line, kubelet_files, kubelet_service, patches, renewal
from pybernetes.tools.kubeadm.addons import coredns, kube_proxy
from pybernetes.tools.kubeadm.certificate_list import Subject
from pybernetes.tools.kubeadm.checks import images, run
from pybernetes.tools.kubeadm.checks.check import ignored_names
from pybernetes.tools.kubeadm.checks.machine import IsPrivilegedUser
from pybernetes.tools.kubeadm.command_line import Arguments
from pybernetes.tools.kubeadm.configuration import loading
from pybernetes.tools.kubeadm.configuration.component_configs import KUBELET
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.init_data import Folders, InitData, say
from pybernetes.tools.kubeadm.locations import ADMIN, KUBELET_CONF, KUBERNETES, MANIFESTS
from pybernetes.tools.kubeadm.phases.init import bootstrap_token, upload_config
from pybernetes.tools.kubeadm.upgrade import manifests, policy
from pybernetes.tools.kubeadm.upgrade.session import Session, session

Object = dict[str, Any]
SUMMARY = "Upgrade your cluster smoothly to a newer version with this command"
FLAGS = (
    command_line.CONFIG,
    command_line.DRY_RUN,
    command_line.IGNORE,
    command_line.PATCHES,
    Flag("kubeconfig", "", "The kubeconfig file to use when talking to the cluster."),
    Flag("allow-experimental-upgrades", False, "Show and allow upgrades to unstable versions."),
    Flag("allow-release-candidate-upgrades", False, "Show and allow upgrades to release candidates."),
    Flag(
        "certificate-renewal",
        True,
        "Perform the renewal of certificates used by component changed during upgrades.",
    ),
    Flag("context-lines", 3, "How many lines of context in the diff"),
    Flag("etcd-upgrade", True, "Perform the upgrade of etcd."),
    Flag("force", False, "Force upgrading although some requirements might not be met."),
    Flag("yes", False, "Perform the upgrade and do not prompt for confirmation."),
)

# Fields of an UpgradeConfiguration that flags say otherwise.
_FIELDS = {
    "allowExperimentalUpgrades": "allow_experimental_upgrades",
    "allowRCUpgrades": "allow_release_candidate_upgrades",
    "certificateRenewal": "certificate_renewal",
    "contextLines": "context_lines",
    "dryRun": "dry_run",
    "etcdUpgrade": "etcd_upgrade",
    "forceUpgrade": "force",
}


def main(argv: list[str]) -> int:
    """Run ``plan [VERSION]``, ``diff [VERSION]``, ``apply VERSION`` or ``node``."""
    arguments = command_line.parse(
        "kubeadm upgrade",
        f"{SUMMARY}: plan|apply|diff|node",
        FLAGS,
        argv,
        most=2,
        short={"-f": "--force", "-y": "--yes"},
    )
    action, version = (*arguments.words, "", "")[:2]
    actions: dict[str, Callable[[Arguments, Session, str], Awaitable[None]]] = {
        "plan": _plan, "diff": _diff, "apply": _apply, "node": _node,
    }  # fmt: skip
    if action not in actions:
        raise KubeadmError(f'unknown command "{action}" for "kubeadm upgrade"')
    if action == "apply" and not version and not arguments.config:
        raise KubeadmError("missing one or more required arguments. Required arguments: [version]")
    asyncio.run(_run(arguments, action, version, actions[action]))
    return 0


async def _run(
    arguments: Arguments,
    action: str,
    version: str,
    work: Callable[[Arguments, Session, str], Awaitable[None]],
) -> None:
    say("[preflight] Running pre-flight checks")
    await run([IsPrivilegedUser()], ignored_names(arguments.ignore_preflight_errors))
    # A worker has no administrator's kubeconfig.
    default = KUBELET_CONF if action == "node" and not ADMIN.exists() else ADMIN
    async with session(arguments, Path(arguments.kubeconfig or default)) as shared:
        section = shared.upgrade[action]
        if arguments.config:
            command_line.check_mixed(arguments)
            overlay(arguments, section)
        given = section.get("kubernetesVersion", "")
        await work(arguments, shared, loading.release(version or given or KUBERNETES_VERSION))


def overlay(arguments: Arguments, section: Object) -> None:
    """Take what a part of an UpgradeConfiguration says instead of flags; refuse what it cannot say here."""
    for field in ("skipPhases", "printConfig"):
        if section.get(field):
            raise KubeadmError(f"UpgradeConfiguration: {field} is not supported")
    for field, attribute in _FIELDS.items():
        if field in section:
            setattr(arguments, attribute, section[field])
    if section.get("ignorePreflightErrors"):
        arguments.ignore_preflight_errors = (
            *arguments.ignore_preflight_errors,
            *section["ignorePreflightErrors"],
        )
    if section.get("patches"):
        arguments.patches = section["patches"].get("directory", "")


def _folder(arguments: Arguments) -> Path | None:
    return Path(arguments.patches) if arguments.patches else None


async def _enforce(arguments: Arguments, shared: Session, target: str) -> None:
    say(f"[upgrade/versions] Cluster version: {shared.current}")
    say(f"[upgrade/versions] kubeadm version: {KUBERNETES_VERSION}")
    found = policy.problems(
        target, shared.current, KUBERNETES_VERSION, [text for text in (await shared.kubelets()).values() if text],
        experimental=arguments.allow_experimental_upgrades, candidates=arguments.allow_release_candidate_upgrades,
    )  # fmt: skip
    for text in policy.check(found, force=arguments.force):
        say(f"[upgrade/versions] WARNING: {text}")


async def _plan(arguments: Arguments, shared: Session, target: str) -> None:
    say(f"[upgrade/versions] Cluster version: {shared.current}")
    say(f"[upgrade/versions] kubeadm version: {KUBERNETES_VERSION}")
    say(f"[upgrade/versions] Target version: {target}")
    kubelets = await shared.kubelets()
    if shared.current == target and set(kubelets.values()) <= {target}:
        say("\nAwesome, you're up-to-date! Enjoy!")
        return
    rows = [("COMPONENT", "NODE", "CURRENT", "TARGET")]
    rows += [
        ("kubelet", node, version, target) for node, version in sorted(kubelets.items()) if version != target
    ]
    if len(rows) > 1:
        say("\nComponents that must be upgraded manually after you have upgraded the control plane:")
        _table(rows)
    node = shared.settings.init["nodeRegistration"]["name"]
    say(f"\nUpgrade to {target}:\n")
    own = [
        (name, node, shared.current, target)
        for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
    ]
    _table([rows[0], *own, ("kube-proxy", "", shared.current, target)])
    say(
        f"\nYou can now apply the upgrade by executing the following command:\n\n\tkubeadm upgrade apply {target}\n"
    )


def _table(rows: list[tuple[str, str, str, str]]) -> None:
    widths = [max(len(row[index]) for row in rows) for index in range(4)]
    for row in rows:
        say("   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


async def _diff(arguments: Arguments, shared: Session, target: str) -> None:
    shared.settings.cluster["kubernetesVersion"] = target
    for component, text in manifests.wanted(shared.settings, _folder(arguments), etcd=False).items():
        print(manifests.difference(component, text, arguments.context_lines), end="")


async def _apply(arguments: Arguments, shared: Session, target: str) -> None:
    await _enforce(arguments, shared, target)
    if not arguments.yes and not arguments.force and not arguments.dry_run:
        try:
            answer = input("[upgrade] Are you sure you want to proceed? [y/N]: ")
        except EOFError:
            answer = ""
        if answer.strip().lower() not in ("y", "yes"):
            raise KubeadmError("won't proceed; the user didn't answer (Y|y) in order to continue")
    shared.settings.cluster["kubernetesVersion"] = target
    await _control_plane(arguments, shared)
    if arguments.dry_run:
        say("[upgrade] Would upload the configuration and upgrade the addons")
        return
    data = InitData(
        shared.settings,
        Folders(certificates=Path(shared.settings.cluster["certificatesDir"])),
        kubeconfig=ADMIN,
    )
    try:
        for phase in upload_config.PHASE.phases:
            if phase.run is not None:
                await phase.run(data)
        _kubelet_config(arguments, shared)
        await bootstrap_token.allow_joining(shared.objects)
        endpoint = shared.settings.init["localAPIEndpoint"]
        if not shared.settings.cluster["dns"].get("disabled"):
            await coredns.install(shared.objects, shared.settings.cluster, _folder(arguments), say)
        if not shared.settings.cluster["proxy"].get("disabled"):
            await kube_proxy.install(
                shared.objects, shared.settings.cluster, shared.settings.components, endpoint["advertiseAddress"],
                endpoint["bindPort"], _folder(arguments), say,
            )  # fmt: skip
    finally:
        await data.close()
    say(f'\n[upgrade] SUCCESS! A control plane node of your cluster was upgraded to "{target}".\n')
    say("[upgrade] Now please proceed with upgrading the rest of the nodes by following the right order.")


async def _control_plane(arguments: Arguments, shared: Session) -> None:
    settings = shared.settings
    texts = manifests.wanted(settings, _folder(arguments), etcd=arguments.etcd_upgrade)
    if arguments.dry_run:
        for component, text in texts.items():
            say(f'[dryrun] Would write file "{MANIFESTS / component}.yaml" with content:\n{text}')
        return
    await run(
        [images.ImagePull(settings.cluster, {**settings.init["nodeRegistration"], **_pulling(shared)})],
        ignored_names(arguments.ignore_preflight_errors),
    )
    say(
        f'[upgrade/apply] Upgrading your Static Pod-hosted control plane to version "{settings.cluster["kubernetesVersion"]}"'
    )
    if arguments.certificate_renewal:
        _renew(settings)
    await manifests.apply(
        shared.objects,
        settings,
        texts,
        durations.parse_duration(shared.upgrade["timeouts"]["upgradeManifests"]),
    )


def _pulling(shared: Session) -> Object:
    section = shared.upgrade["apply"]
    return {name: section[name] for name in ("imagePullPolicy", "imagePullSerial")}


def _renew(settings: loading.InitSettings) -> None:
    endpoint = settings.init["localAPIEndpoint"]
    subject = Subject(
        settings.cluster, settings.init["nodeRegistration"]["name"], endpoint["advertiseAddress"]
    )
    folder = Path(settings.cluster["certificatesDir"])
    if not (folder / "ca.key").exists():
        say("[upgrade/staticpods] External CA detected, certificates can't be renewed")
        return
    where = renewal.Place(subject, endpoint["bindPort"], folder, KUBERNETES)
    for name in renewal.names():
        say(f"[upgrade/staticpods] Renewing {name} certificate")
        renewal.renew(where, name, missing=True)


def _kubelet_config(arguments: Arguments, shared: Session) -> None:
    folders = Folders()
    config = patches.patched(
        "kubeletconfiguration", shared.settings.components[KUBELET], _folder(arguments), say
    )
    registration = shared.settings.init["nodeRegistration"]
    kubelet_files.write_config(folders.kubelet, config, registration, say)
    kubelet_service.stop(folders.kubelet)
    kubelet_service.start(folders.kubelet)


async def _node(arguments: Arguments, shared: Session, target: str) -> None:
    """Upgrade this machine to what the cluster was upgraded to."""
    if (MANIFESTS / "kube-apiserver.yaml").exists():
        await _control_plane(arguments, shared)
        say("[upgrade] The control plane instance for this node was successfully upgraded!")
    else:
        say("[upgrade] Skipping phase. Not a control plane node.")
    if arguments.dry_run:
        return
    _kubelet_config(arguments, shared)
    say("[upgrade] The configuration for this node was successfully upgraded!")
    say("[upgrade] Now you should go ahead and upgrade the kubelet package using your package manager.")
