"""Evicts pods when the node runs out of memory, disk, inodes or processes.

``thresholds`` decides when, ``ranking`` which pod, ``disk_limits`` which pods exceed their own limits; all pure.
``eviction_manager`` observes the node and acts.
"""
