"""Servers that are asked by a kubeconfig who somebody is and what they may: where they are, and how they are called."""
