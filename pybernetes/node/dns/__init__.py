"""kube-dns: names of services and pods, as the DNS-based service discovery of Kubernetes (1.1.0) has them.

``records`` says which records a service has, ``table`` keeps them as ready-made answers, ``resolver`` finds the
answer to a question, ``forward`` asks others, ``server`` is the sockets, ``agent`` follows the API server.
"""
