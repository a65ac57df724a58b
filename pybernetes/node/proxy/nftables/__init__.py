"""The mode nftables: one table of our own, with maps of addresses.

``table`` is the table without any Service, ``rules`` those of one ServicePort (both pure), ``nftables`` writes.
"""
