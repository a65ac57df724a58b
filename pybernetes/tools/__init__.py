"""Programs for people: the local cluster, kubectl, kubeadm and the rest."""
