"""The local cluster: ``pyb up`` and what goes with it, the minikube of this project.

``paths`` says where a cluster keeps its files, ``settings`` what it was made with, ``processes`` which processes that
means, ``supervisor`` keeps them running, ``control_plane`` is the one process of the control plane, ``node`` and
``network`` are the files and links of a node, ``lifecycle`` goes from up to delete, ``kubeconfig`` tells kubectl.
"""
