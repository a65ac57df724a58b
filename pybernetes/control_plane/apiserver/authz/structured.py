"""The chain of authorizers that ``--authorization-config`` names, and what becomes of it when the file changes."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from pybernetes.api.strict_types import read_file
from pybernetes.control_plane.apiserver.authz import configuration
from pybernetes.control_plane.apiserver.authz.authorizer import Authorizer, Mode
from pybernetes.control_plane.apiserver.authz.configuration import AuthorizerSettings
from pybernetes.control_plane.apiserver.authz.modes import webhook
from pybernetes.control_plane.apiserver.config_reloads import ConfigFile, ConfigReloads, content_hash

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pybernetes.control_plane.apiserver.context import ServerContext

# What works on objects cannot begin to in a running server.
_FROM_THE_START = ("Node", "RBAC")


class StructuredAuthorization:
    """The chain of a file: made once when the server is put together, and its webhooks anew when the file changes."""

    def __init__(
        self, path: str, modes: Mapping[str, Mode], arguments: argparse.Namespace, server: str
    ) -> None:
        self._path, self._modes, self._arguments = path, modes, arguments
        self._settings = configuration.load(path, modes)
        self.types = [settings.type for settings in self._settings]
        self._reloads = ConfigReloads("authorization", server)
        self._reloads.config_hash = content_hash(read_file(path))
        self._made: dict[str, Authorizer] = {}
        for settings in self._settings:  # what cannot be read is found before anything is opened
            if settings.webhook is not None:
                webhook.kubeconfig.load(settings.webhook.connection)
            else:
                modes[settings.type].check(arguments)

    def build(self, context: ServerContext) -> list[Authorizer]:
        """Return the authorizers of the server."""
        return [self._one(context, settings) for settings in self._settings]

    def _one(self, context: ServerContext, settings: AuthorizerSettings) -> Authorizer:
        if settings.webhook is not None:
            return webhook.authorizer(context, settings.webhook)
        if settings.type not in self._made:
            self._made[settings.type] = self._modes[settings.type].build(context, self._arguments)
        return self._made[settings.type]

    def follow(self, context: ServerContext) -> ConfigFile:
        """Return what takes over the file when it changes."""

        async def take() -> None:
            settings = configuration.load(self._path, self._modes)
            for entry in settings:
                if entry.type in _FROM_THE_START and entry.type not in self._made:
                    raise ValueError(
                        f"authorizer type {entry.type} is not allowed if it was not enabled at initial server startup"
                    )
            context.authorization.replace([self._one(context, entry) for entry in settings])

        return ConfigFile(self._path, take, self._reloads)
