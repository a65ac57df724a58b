"""Local clusters with several control planes: machines that our own kubeadm installs, behind one address."""
