"""Kustomizations: from a folder with a kustomization file to the objects that it means.

``build`` is the way in. ``target`` reads a kustomization and runs its generators and transformers, a file each in
``generators`` and ``transformers``; ``yaml_nodes`` has the values that they change. Nothing here talks to a server.
"""

VERSION = "v5.8.1"  # of the kustomize whose rules are followed
