"""kube-proxy: has the addresses of Services lead to their endpoints, by one of several backends.

Layers: imports ``lib``, ``api``, ``client`` and ``runtime`` only. ``docs/kube-proxy.md`` is the guide.
"""
