"""Ends pods so that the node survives, when it runs out of memory, disk, inodes or processes.

``thresholds`` decides when, ``ranking`` who, ``limits`` which pods use more disk than they said; all pure.
``manager`` looks, and does it.
"""
