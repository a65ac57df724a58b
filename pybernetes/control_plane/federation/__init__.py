"""Many clusters as one: the control plane of a federation, with the API of kubefed.

What is wanted stands in the host cluster; what to do about it is decided by pure functions in this folder; ``members``
holds the connections to the clusters of the federation, ``controllers`` makes them match.
"""
