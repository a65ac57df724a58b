"""cluster-autoscaler: gives node groups more nodes for pods that find no room, and takes away nodes that are not needed.

``autoscaler`` is the loop; ``cluster/`` is what is known of nodes, pods and groups, in the scheduler's columns, and what
became of earlier wishes; ``scale_up/`` with ``expanders/`` decides what to add, ``scale_down/`` what to remove, and both do
it; ``provisioning/`` serves ProvisioningRequests. Clouds are behind ``provider``.
"""
