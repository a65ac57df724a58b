"""kube-dns: names of services and pods, as the DNS-based service discovery of Kubernetes (1.1.0) has them.

``records`` says which records a service has, ``answer_table`` keeps them as ready-made answers, ``resolver`` finds
the answer to a question, ``forwarder`` asks other servers, ``server`` has the sockets, ``kube_dns`` follows the API server.
"""
