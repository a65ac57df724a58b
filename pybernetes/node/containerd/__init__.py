"""A container runtime of a node's own: containerd with its own root, state, socket and network configuration.

``config`` writes its configuration, ``containerd`` starts and stops it, ``images`` imports images, ``requirements`` says what the machine lacks.
"""
