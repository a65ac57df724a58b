"""kubeadm: makes a machine part of a cluster. Commands are in ``commands``, what they do step by step in ``phases``."""
