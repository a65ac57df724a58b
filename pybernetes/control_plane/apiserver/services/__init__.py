"""The addresses and ports of services: ranges, who has what, and how it is taken and given back.

An address is taken by creating its IPAddress object: the store refuses the second creation, so that several
API servers on one store cannot give an address away twice. Node ports share one object, a bitmap that is
changed by compare-and-swap. Both live in the store alone; nothing is kept in memory that could be stale.
"""
