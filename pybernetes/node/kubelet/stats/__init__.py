"""What the node and its pods use, in upstream's forms: the summary (JSON) and metrics (the text format of Prometheus)."""
