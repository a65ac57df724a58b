"""From the command line to encryption at rest."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from pybernetes.api.resource import Resource
from pybernetes.control_plane.apiserver.encryption.encryption import Encryption
from pybernetes.lib.flags import Flag

FLAGS = (
    Flag("encryption-provider-config", "", "file that says how stored objects are encrypted"),
    Flag(
        "encryption-provider-config-automatic-reload",
        False,
        "take over that file whenever it changes",
    ),
)


def encryption(arguments: argparse.Namespace, resources: Iterable[Resource], server: str) -> Encryption:
    """Return what the flags ask for, for a server of this name; ValueError tells what is wrong with them or with the file."""
    path, reload = arguments.encryption_provider_config, arguments.encryption_provider_config_automatic_reload
    if reload and not path:
        raise ValueError(
            "--encryption-provider-config-automatic-reload must be set with --encryption-provider-config"
        )
    return Encryption(resources, path, reload=reload, server=server)
