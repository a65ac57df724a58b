"""Calls from the same process: the server's whole pipeline without sockets, TLS or encoded lists and events.

``transport.InProcessTransport(server.http.application, user)`` is a transport for ``pybernetes.client`` that acts as one
user. Lists and watches hand over decoded objects that all callers share, so that an object is decoded once per process
however many informers hold it. Nobody may change these objects.
"""
