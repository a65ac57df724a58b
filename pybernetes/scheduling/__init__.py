"""The rules of the scheduler as a pure library.

Columns of nodes, filters, scores, preemption. Needs lib and api only.
"""
