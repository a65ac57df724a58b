"""The etcd driver: a store in an etcd v3 cluster, which other API servers may share."""

from pybernetes.lib.grpc.generated import bare_package

bare_package("aetcd")
bare_package("aetcd.rpc")
