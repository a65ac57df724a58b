"""The phases of ``kubeadm join``, in their order."""

from __future__ import annotations

from pybernetes.tools.kubeadm.phases.join import (
    check_etcd,
    control_plane_join,
    control_plane_prepare,
    etcd_join,
    kubelet_start,
    kubelet_wait_bootstrap,
    preflight,
    wait_control_plane,
)

PHASES = (
    preflight.PHASE,
    control_plane_prepare.PHASE,
    check_etcd.PHASE,
    kubelet_start.PHASE,
    etcd_join.PHASE,
    kubelet_wait_bootstrap.PHASE,
    control_plane_join.PHASE,
    wait_control_plane.PHASE,
)
