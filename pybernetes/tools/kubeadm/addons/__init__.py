"""What every cluster of kubeadm has beside its control plane."""
