"""HorizontalPodAutoscaler: as many pods as their metrics ask for.

``pod_groups`` tells which pods count, ``replica_calculator`` how many there should be by one metric, ``normalization``
how fast that may change, ``scaling_status`` what the status says (all pure); ``metrics_client`` asks the metrics APIs,
``metric_sources`` does both for each type of metric, ``horizontalpodautoscaler`` is the controller.
"""
