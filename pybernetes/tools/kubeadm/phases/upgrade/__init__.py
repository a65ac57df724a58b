"""The phases of ``kubeadm upgrade apply`` and ``kubeadm upgrade node``, in their order."""

from __future__ import annotations

from pybernetes.tools.kubeadm.phases.upgrade import (
    addon,
    bootstrap_token,
    control_plane,
    kubelet_config,
    post_upgrade,
    preflight,
    upload_config,
)

APPLY = (
    preflight.APPLY,
    control_plane.PHASE,
    upload_config.PHASE,
    kubelet_config.PHASE,
    bootstrap_token.PHASE,
    addon.PHASE,
    post_upgrade.PHASE,
)
NODE = (
    preflight.NODE,
    control_plane.PHASE,
    kubelet_config.PHASE,
    addon.PHASE,
    post_upgrade.PHASE,
)
