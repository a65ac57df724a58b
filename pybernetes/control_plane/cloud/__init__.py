"""cloud-controller-manager: the loops that join a cluster and the cloud that it runs in.

``provider.py`` is the protocol that a cloud implements, ``providers/`` has those that come with Pybernetes, and
``controllers/`` the loops, which know nothing of any cloud.
"""
