"""The flags of the etcd driver, and how it is opened. What needs gRPC is imported only then."""

from __future__ import annotations

import argparse

from pybernetes.control_plane.store.driver import Driver
from pybernetes.control_plane.store.protocol import CommonOptions, Store
from pybernetes.lib.flags import Flag
from pybernetes.lib.http.dialer import Dialer, direct

PREFIX = "/registry"
FLAGS = (
    Flag("etcd-servers", (), "addresses of the etcd cluster; imply --storage-backend=etcd3"),
    Flag("etcd-prefix", PREFIX, f"only {PREFIX} is supported"),
    Flag("etcd-cafile", "", "authority of etcd's serving certificates"),
    Flag("etcd-certfile", "", "certificate that etcd knows this server by"),
    Flag("etcd-keyfile", "", "its key"),
)


def open_store(arguments: argparse.Namespace, options: CommonOptions, dialer: Dialer = direct) -> Store:
    """Make the store in the cluster that the flags name."""
    if not arguments.etcd_servers:
        raise ValueError("--storage-backend=etcd3 needs --etcd-servers")
    if arguments.etcd_prefix.rstrip("/") != PREFIX:
        raise ValueError(f"--etcd-prefix: only {PREFIX} is supported")
    from pybernetes.control_plane.store.drivers.etcd.etcd_store import EtcdStore

    return EtcdStore(
        arguments.etcd_servers,
        prefix=PREFIX,
        cafile=arguments.etcd_cafile,
        certfile=arguments.etcd_certfile,
        keyfile=arguments.etcd_keyfile,
        dialer=dialer,
        **options,
    )


DRIVER = Driver("etcd3", open_store, FLAGS, ("etcd",), open_store, implied_by="etcd-servers")
