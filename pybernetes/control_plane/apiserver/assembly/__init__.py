"""A server put together from its parts: flags, settings, start and stop, what must exist.

``setup`` makes ``settings`` of the command line, ``api_server`` puts the parts together and starts them, ``bootstrap`` makes
the objects that must exist, ``server_leases`` tells which servers share a store.
"""
