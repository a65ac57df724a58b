"""The commands of kuberc."""
