"""The checks of the pod security standards, by what they look at.

A check is a function of a pod's metadata and specification that gives a violation, or None.
"""
