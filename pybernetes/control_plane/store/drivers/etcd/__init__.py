"""The etcd driver: a store in an etcd v3 cluster, which other API servers may share."""
