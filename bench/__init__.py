"""Benchmarks that take any kubeconfig, so that they run against any Kubernetes: `pyb bench NAME`."""
