"""The official service level objectives of Kubernetes, held against the metrics of a running cluster."""
