"""HTTP/1.1, both sides, with WebSocket and SPDY behind it: the one stack of everything here. It knows no Kubernetes.

``docs/http.md`` is the guide. ``server`` listens, ``request_parser`` and ``server_connection`` are a client's connection;
``client`` sends requests, ``client_connection`` is a connection to a server; ``messages`` are what they carry.
"""
