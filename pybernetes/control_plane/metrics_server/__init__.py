"""metrics-server: what nodes and pods use now, as the API group metrics.k8s.io.

``decode`` reads what a kubelet answers and ``storage`` keeps two samples of everything and tells what was used between
them (both pure); ``kubelet_client`` asks one kubelet, ``scraper`` all of them while somebody wants to know,
``resource_metrics`` is the API group, ``own_metrics`` what this program counts, ``metrics_server`` puts it together.
"""
