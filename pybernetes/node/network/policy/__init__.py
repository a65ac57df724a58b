"""Network policies: which traffic pods may have, held by one table of nftables on every node.

``objects`` and ``rules`` read objects of the API, ``state`` decides what a node's table holds, ``nft`` is its text and
``verdict`` asks it about one packet (all pure); ``policies`` follows the API server and writes, ``gate`` holds new pods
back until their rules are in.
"""
