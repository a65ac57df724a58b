"""Calls from the same process: the server's whole chain without sockets, TLS or encoded lists and events.

``InProcessTransport(server.http.application, user)`` is a transport for ``pybernetes.client`` that acts as one user. Lists and watches
hand over decoded objects that all callers share, so that an object is decoded once per process however many
informers hold it. Nobody may change them.
"""

from pybernetes.control_plane.apiserver.inprocess.transport import InProcessTransport

__all__ = ["InProcessTransport"]
