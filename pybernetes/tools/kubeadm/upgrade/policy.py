"""Which versions a cluster may go to from where it is. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from pybernetes.tools.kubeadm.errors import KubeadmError

_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?")
_KUBELET_SKEW = 3


@dataclass
class Problems:
    """What speaks against an upgrade; ``--force`` goes past what can be skipped."""

    mandatory: list[str] = field(default_factory=list)
    skippable: list[str] = field(default_factory=list)


def parse(text: str) -> tuple[int, int, int, str]:
    """Return the numbers of a version and what it is before; KubeadmError if it is none."""
    match = _VERSION.match(text)
    if match is None:
        raise KubeadmError(f'couldn\'t parse version "{text}"')
    return int(match[1]), int(match[2]), int(match[3]), match[4] or ""


def problems(
    target: str,
    current: str,
    own: str,
    kubelets: Iterable[str],
    *,
    experimental: bool = False,
    candidates: bool = False,
) -> Problems:
    """Return what speaks against going from one version to another with a kubeadm of our version."""
    new, cluster, kubeadm = parse(target), parse(current), parse(own)
    problems = Problems()
    unstable = bool(new[3])
    grave = problems.skippable if unstable else problems.mandatory
    if new[:2] < (kubeadm[0], kubeadm[1] - 1):
        problems.mandatory.append(
            f'Specified version to upgrade to "{target}" is equal to or lower than the minimum supported version "{current}". '
            "Please specify a higher version to upgrade to"
        )
    if new[1] > cluster[1] + 1:
        grave.append(
            f'Specified version to upgrade to "{target}" is too high; kubeadm can upgrade only 1 minor version at a time'
        )
    if new[1] < cluster[1] - 1:
        grave.append(
            f'Specified version to downgrade to "{target}" is too low; kubeadm can downgrade only 1 minor version at a time'
        )
    if kubeadm[:3] < new[:3]:
        if new[1] > kubeadm[1]:
            grave.append(
                f'Specified version to upgrade to "{target}" is at least one minor release higher than the kubeadm minor release '
                f"({new[1]} > {kubeadm[1]}). Such an upgrade is not supported"
            )
        else:
            problems.skippable.append(
                f'Specified version to upgrade to "{target}" is higher than the kubeadm version "{own}". Upgrade kubeadm first '
                "using the tool you used to install kubeadm"
            )
    if kubeadm[0] > new[0] or kubeadm[1] > new[1]:
        problems.skippable.append(
            f"Kubeadm version {own} can only be used to upgrade to Kubernetes version {kubeadm[0]}.{kubeadm[1]}"
        )
    if unstable and not experimental and not (new[3].startswith("rc") and candidates):
        problems.skippable.append(
            f'Specified version to upgrade to "{target}" is an unstable version and such upgrades weren\'t allowed via setting '
            "the --allow-*-upgrades flags"
        )
    old = sorted({kubelet for kubelet in kubelets if new[1] > parse(kubelet)[1] + _KUBELET_SKEW})
    if old:
        listed = " ".join(old)
        problems.skippable.append(
            f"There are kubelets in this cluster that are too old that have these versions [{listed}]"
        )
    return problems


def check(problems: Problems, *, force: bool) -> str:
    """Return what is said beside an upgrade that goes on; KubeadmError if it must not."""

    def listed(texts: list[str]) -> str:
        return "".join(f"\t- {text}\n" for text in texts)

    if problems.mandatory:
        raise KubeadmError(
            f"the version argument is invalid due to these fatal errors:\n\n{listed(problems.mandatory)}\nPlease fix the "
            "misalignments highlighted above and try upgrading again"
        )
    if problems.skippable and not force:
        raise KubeadmError(
            f"the version argument is invalid due to these errors:\n\n{listed(problems.skippable)}\nCan be bypassed if you pass "
            "the --force flag"
        )
    if not problems.skippable:
        return ""
    return (
        f"[upgrade/preflight] Found {len(problems.skippable)} potential version compatibility errors but skipping since the "
        f"--force flag is set: \n\n{listed(problems.skippable)}"
    )
