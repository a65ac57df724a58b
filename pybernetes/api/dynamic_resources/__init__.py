"""Kinds of the group resource.k8s.io: devices that pods claim.

The folder has the name of the feature, because ``pybernetes.api.resource`` is what a kind is.
"""

GROUP = "resource.k8s.io"
