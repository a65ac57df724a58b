"""Upstream's protocol to clouds outside of the autoscaler's own process, as client and as server.

``messages`` describes what is sent, ``client`` is a cloud behind it, ``server`` serves any cloud with it, ``config`` reads
the file that says where it is.
"""
