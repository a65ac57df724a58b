"""Requests that are passed on: to kubelets, pods, services and other API servers.

``reverse_proxy`` passes one on and its answer back, ``forwarding`` decides where to and with which TLS, ``kubelets`` finds
the kubelet of a node, ``pages`` and ``links`` make the links of pages lead back through the proxy.
"""
