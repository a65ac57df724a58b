"""HTTP/1.1 over TLS: requests in, responses and streams out. It knows nothing of Kubernetes.

``messages`` holds requests and responses, ``connection`` speaks the protocol, ``stream`` is a response
that goes on (watches), ``compression`` the gzip form of large bodies.
"""
