"""A container runtime of a node's own: containerd with its own root, state, socket and network configuration.

``config`` writes its configuration, ``daemon`` starts and stops it, ``images`` brings images into it.
"""
