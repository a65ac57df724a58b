"""The local cluster: ``pyb up`` and what goes with it, the minikube of this project.

``places`` says where a cluster keeps its things, ``settings`` what it was made with, ``programs`` which processes
that means, ``supervisor`` keeps them running, ``control_plane`` is the one process of the control plane, ``node``
and ``network`` are a node's places and links, ``lifecycle`` goes from up to delete, ``kubeconfig`` tells kubectl.
"""
