"""The container runtime: everything that is said to it or read from it, in the words of CRI.

``client`` calls it, ``specs`` says what it is asked to make, ``pod_runtime`` is what it has of a pod.
"""
