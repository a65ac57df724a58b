"""pyb audit-security: hold a running cluster against the recommendations of the CIS Kubernetes Benchmark.

``cluster_inputs`` is what is looked at, ``collect`` reads it from a cluster (any Kubernetes, by its API) and from the files of a local
one, ``sections/`` has a file for each section of the benchmark with the pure decisions, ``report`` prints them. Nothing is
written to the cluster.
"""
