"""cluster-autoscaler: gives node groups more nodes for pods that find no room, and takes away nodes that are not needed.

``autoscaler`` is the loop; ``cluster`` is what is known, in the scheduler's columns; ``groups`` and ``cluster_state`` are
what the cloud says and what became of earlier wishes; ``scale_up`` with ``estimator``, ``balancing`` and ``expanders/``
decides what to add, ``scale_down`` with ``drain_rules`` and ``utilization`` what to remove, ``actuator`` removes it.
Clouds are behind ``provider``.
"""
