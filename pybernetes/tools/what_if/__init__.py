"""What-if: asks the scheduler's rules about a cluster that does not exist yet, without writing anything.

A cluster is read into a ``Cluster``; a question changes that and lets a ``Simulation`` schedule what has no node. All of
this is pure but for ``reading.py``. One file in ``questions/`` is one question.
"""
