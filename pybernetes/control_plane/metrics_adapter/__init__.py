"""metrics-adapter: custom and external metrics from Prometheus, for autoscalers.

``config`` reads the rules (those of prometheus-adapter) and ``queries`` makes queries of them (both pure);
``prometheus_client`` asks Prometheus, ``catalogue`` knows which metrics there are, ``custom_metrics`` and
``external_metrics`` are the API groups, ``metrics_adapter`` puts it together.
"""
