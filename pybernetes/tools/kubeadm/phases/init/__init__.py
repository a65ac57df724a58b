"""The phases of ``kubeadm init``, in their order."""

from __future__ import annotations

from pybernetes.tools.kubeadm.phases.init import (
    addon,
    bootstrap_token,
    certs,
    control_plane,
    etcd,
    kubeconfig,
    kubelet_finalize,
    kubelet_start,
    mark_control_plane,
    preflight,
    show_join_command,
    upload_certs,
    upload_config,
    wait_control_plane,
)

PHASES = (
    preflight.PHASE,
    certs.PHASE,
    kubeconfig.PHASE,
    etcd.PHASE,
    control_plane.PHASE,
    kubelet_start.PHASE,
    wait_control_plane.PHASE,
    upload_config.PHASE,
    upload_certs.PHASE,
    mark_control_plane.PHASE,
    bootstrap_token.PHASE,
    kubelet_finalize.PHASE,
    addon.PHASE,
    show_join_command.PHASE,
)
