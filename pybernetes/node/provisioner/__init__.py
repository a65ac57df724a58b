"""The storage provisioner: a claim of its class gets a folder on local disk, which goes with the claim.

``plan`` decides what is to be made and what may go (pure); ``controllers`` does it.
"""

from pybernetes.node.provisioner.provisioner import ensure_class, provision

__all__ = ["ensure_class", "provision"]
