"""The phases of ``kubeadm reset``, in their order."""

from __future__ import annotations

from pybernetes.tools.kubeadm.phases.reset import cleanup_node, preflight, remove_etcd_member

PHASES = (preflight.PHASE, remove_etcd_member.PHASE, cleanup_node.PHASE)
