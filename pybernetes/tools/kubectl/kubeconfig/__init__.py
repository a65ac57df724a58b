"""From kubeconfig files and flags to what a connection needs."""
