"""``kubeadm upgrade``: what may be upgraded to what, and how a control plane changes its pods one by one."""
