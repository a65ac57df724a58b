"""What the phases of an upgrade share: what the user wants, and the cluster that it is done to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pybernetes import KUBERNETES_VERSION
from pybernetes.api.resource import Object
from pybernetes.tools.kubeadm.checks.check import ignored_names
from pybernetes.tools.kubeadm.command_line import Arguments
from pybernetes.tools.kubeadm.configuration import loading
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.init_data import Folders, InitData, say
from pybernetes.tools.kubeadm.locations import ADMIN, KUBELET_CONF, MANIFESTS
from pybernetes.tools.kubeadm.objects import Objects, PrintedObjects
from pybernetes.tools.kubeadm.upgrade.session import Session, configuration, session

_VARIABLE = "KUBEADM_UPGRADE_DRYRUN_DIR"


@dataclass
class UpgradeData:
    """All that phases of ``upgrade apply`` and ``upgrade node`` need."""

    session: Session
    section: Object  # of the UpgradeConfiguration, for this command
    folders: Folders
    value: Callable[[str, str], Any]  # of a flag, or of the field that says the same in the configuration
    control_plane: bool
    ignored: frozenset[str]
    yes: bool
    target: str

    @property
    def dry_run(self) -> bool:
        """Whether nothing may change."""
        return bool(self.value("dry-run", "dryRun"))

    @property
    def force(self) -> bool:
        """Whether what can be skipped is skipped."""
        return bool(self.value("force", "forceUpgrade"))

    @property
    def patches(self) -> Path | None:
        """The folder of the user's patches."""
        given = self.value("patches", "patches")
        directory = given.get("directory", "") if isinstance(given, dict) else given
        return Path(directory) if directory else None

    @property
    def cluster(self) -> Object:
        """The ClusterConfiguration, with the version that is wanted."""
        return self.session.settings.cluster

    @property
    def node(self) -> str:
        """The name of this machine's node."""
        return str(self.session.settings.init["nodeRegistration"]["name"])

    def objects(self) -> Objects:
        """Return the objects of the cluster, or a printer of what would be done to them."""
        return PrintedObjects(say) if self.dry_run else self.session.objects

    def init_data(self) -> InitData:
        """Return the same for phases that ``init`` has as well."""
        folders = Folders(certificates=Path(self.cluster["certificatesDir"]))
        return InitData(
            self.session.settings, folders, self.dry_run, kubeconfig=self.session.kubeconfig,
            patches=self.patches, _objects=self.objects(),
        )  # fmt: skip


def flag_or_field(arguments: Arguments, section: Object) -> Callable[[str, str], Any]:
    """Return what gives the value of a flag, or of a field of the configuration where the flag is not given."""

    def value(flag: str, name: str) -> Any:
        own = getattr(arguments, flag.replace("-", "_"), None)
        if arguments.was_given(flag) or section.get(name) is None:
            return own
        return section[name]

    return value


@asynccontextmanager
async def opened(arguments: Arguments, action: str, *, alone: bool) -> AsyncIterator[UpgradeData]:
    """Give what ``upgrade apply`` or ``upgrade node`` works with."""
    upgrade = configuration(arguments)
    section = upgrade[action]
    value = flag_or_field(arguments, section)
    wanted = _wanted(arguments, section, alone) if action == "apply" else ""
    ignored = ignored_names(arguments.ignore_preflight_errors, section.get("ignorePreflightErrors") or ())
    control_plane = action == "apply" or (MANIFESTS / "kube-apiserver.yaml").exists()
    folders = Folders()
    if value("dry-run", "dryRun"):
        folders = Folders.dry_run(_VARIABLE, f"kubeadm-upgrade-{action}-dryrun")
    path = Path(arguments.kubeconfig or (ADMIN if control_plane else KUBELET_CONF))
    async with session(path, upgrade) as shared:
        target = loading.release(wanted) if wanted else shared.current
        yield UpgradeData(shared, section, folders, value, control_plane, ignored, arguments.yes, target)


def _wanted(arguments: Arguments, section: Object, alone: bool) -> str:
    given = arguments.words[0] if arguments.words else section.get("kubernetesVersion", "")
    # A single phase cannot be told: it is of the version that this kubeadm brings.
    if not given and not alone:
        raise KubeadmError("missing one or more required arguments. Required arguments: [version]")
    return given or KUBERNETES_VERSION
