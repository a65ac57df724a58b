"""The rules of the scheduler as a pure library: columns of nodes, filters, scores, preemption.

Layers: imports ``lib`` and ``api`` only. What plugins write once a node is chosen goes through the writer of their
``Handle``. ``docs/scheduler.md`` is the guide.
"""
