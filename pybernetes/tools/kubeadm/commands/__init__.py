"""The commands of kubeadm, a file for each."""
