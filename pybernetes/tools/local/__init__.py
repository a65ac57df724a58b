"""The local cluster: ``pyb up`` and what goes with it, the minikube of this project.

``places`` says where a cluster keeps its things, ``control_plane`` is the one process of the control plane,
``daemons`` runs processes in the background, ``kubeconfig`` tells kubectl about the cluster.
"""
