"""The environment of a command: streams, flags, configuration, and what is made of them when it is first needed."""

from __future__ import annotations

import os
import sys
from functools import cached_property

from pybernetes.tools.kubectl import TYPE_CHECKING, log
from pybernetes.tools.kubectl.command_line.flags import Values
from pybernetes.tools.kubectl.errors import CommandError, Usage, escaped

if TYPE_CHECKING:
    from typing import Any, TextIO

    from pybernetes.api.resource import Object
    from pybernetes.tools.kubectl.command_line.lookup import Command
    from pybernetes.tools.kubectl.connection.client import Client
    from pybernetes.tools.kubectl.resources.discovery import Discovery


class Context:
    """What every command gets."""

    def __init__(
        self,
        flags: Values,
        path: str = "kubectl",
        command: Command | None = None,
        *,
        stdin: Any = None,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
        environment: dict[str, str] | None = None,
    ) -> None:
        self.flags, self.path, self.command = flags, path, command
        self.stdin = stdin or sys.stdin
        self.stdout = stdout or sys.stdout
        self.stderr = stderr or sys.stderr
        self.preference: Object = {}  # what the kuberc file says
        self._input_taken = False
        self.environment = environment if environment is not None else dict(os.environ)

    @property
    def args(self) -> list[str]:
        """The arguments that are no flags."""
        return self.flags.args

    def out(self, text: str = "") -> None:
        """Print a line."""
        self.stdout.write(text + "\n")

    def shown(self, text: str) -> str:
        """Return a text of others as it is printed: a terminal takes no commands from it, a file gets it as it is."""
        return escaped(text) if self.stdout.isatty() else text

    def write_bytes(self, data: bytes) -> None:
        """Print bytes as they are."""
        buffer = getattr(self.stdout, "buffer", None)
        if buffer is None:
            self.stdout.write(data.decode("utf-8", "replace"))
        else:
            self.stdout.flush()
            buffer.write(data)
            buffer.flush()

    def warn(self, text: str) -> None:
        """Print a line to standard error; what others say in it is no command to the terminal."""
        self.stdout.flush()
        self.stderr.write(escaped(text) + "\n")
        self.stderr.flush()

    def usage(self, message: str) -> Usage:
        """Return an error about the command line."""
        return Usage(message, self.path)

    def refuse_arguments(self) -> None:
        """Refuse arguments, for a command that takes its objects from files alone."""
        if self.args:
            raise self.usage(f"Unexpected args: [{' '.join(self.args)}]")

    def require_files(self) -> None:
        """Refuse a command line without files."""
        if not self.flags.filename and not self.flags.kustomize:
            raise CommandError("must specify one of -f and -k")

    def show_help(self, out: TextIO) -> None:
        """Print the help of the command."""
        from pybernetes.tools.kubectl.command_line.help import show

        assert self.command is not None
        show(self.command, self.path, out)

    @cached_property
    def config_files(self) -> list[str]:
        """The kubeconfig files."""
        from pybernetes.client.kubeconfig_files import paths

        return [self.flags.kubeconfig] if self.flags.kubeconfig else paths(self.environment)

    @cached_property
    def config(self) -> Object:
        """The merged configuration."""
        from pybernetes.tools.kubectl.kubeconfig.files import load

        # The commands of config make a file that is not there, and show the others as they are.
        changing = self.path.startswith("kubectl config")
        return load(self.config_files, bool(self.flags.kubeconfig) and not changing, changing)

    @cached_property
    def timeout(self) -> float | None:
        """The limit of one request."""
        text = self.flags.request_timeout
        if text in ("", "0"):
            return None
        from pybernetes.api.text.durations import parse_duration

        try:
            limit = float(text) if text.isdigit() else parse_duration(text)
            return limit if limit > 0 else None
        except ValueError:
            raise CommandError(
                "Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a "
                "corresponding time unit (e.g. 1s | 2m | 3h)"
            ) from None

    @cached_property
    def client(self) -> Client:
        """A client of the chosen server."""
        from pybernetes.tools.kubectl.connection.client import Client
        from pybernetes.tools.kubectl.kubeconfig.access import access

        chosen = access(self.config, self.flags)
        if chosen.exec is not None:  # what is wrong with it is told before anything is asked
            from pybernetes.tools.kubectl.kubeconfig.exec_credentials import check_settings

            check_settings(chosen.exec, chosen.user)
        chosen.store_provider = lambda settings: self._store_provider(chosen.user, settings)
        chosen.plugin_policy = self.preference
        chosen.input_taken = self._input_taken
        return Client(chosen, self.timeout, self.stderr)

    def _store_provider(self, user: str, settings: dict[str, str]) -> None:
        """Keep new tokens of a user for the next command."""
        from pybernetes.tools.kubectl.config_changes import changing, origin

        with changing(origin(self, "users", user)) as content:
            for entry in content.get("users") or ():
                if entry.get("name") == user:
                    entry["user"]["auth-provider"]["config"] = settings

    def take_input(self) -> Any:
        """Return the standard input for a manifest; a program that gives credentials cannot ask the user then."""
        self._input_taken = True
        if "client" in self.__dict__:
            self.client.access.input_taken = True
        return self.stdin

    @cached_property
    def discovery(self) -> Discovery:
        """The resources of the server."""
        from pybernetes.tools.kubectl.resources.discovery import Discovery

        return Discovery(self.client, self.cache_dir)

    @property
    def cache_dir(self) -> str:
        """Where answers of the server are kept."""
        home = os.path.join(self.environment.get("HOME", "/"), ".kube", "cache")
        return self.flags.cache_dir or self.environment.get("KUBECACHEDIR") or home

    @cached_property
    def namespace(self) -> str:
        """The namespace to work in."""
        from pybernetes.tools.kubectl.kubeconfig.access import current, is_in_pod, namespace_of_pod

        if self.flags.namespace:
            return self.flags.namespace
        if is_in_pod(self.config, self.flags, self.environment):
            return namespace_of_pod(self.environment) or "default"
        return current(self.config, self.flags).get("namespace") or "default"

    @property
    def namespace_given(self) -> bool:
        """Whether the command line names the namespace."""
        return bool(self.flags.namespace)

    def dry_run(self) -> str:
        """Return the kind of dry run: none, client or server."""
        value = self.flags.dry_run
        if value == "unchanged":
            log.line(
                "helpers.go:714", "--dry-run is deprecated and can be replaced with --dry-run=client.", 0, "W"
            )
            value = "client"
        elif value not in ("none", "client", "server"):
            value = self._old_dry_run(value)
        self.flags.__dict__["dry_run"] = value  # for whoever prints
        return value

    def _old_dry_run(self, value: str) -> str:
        """Return what a boolean means, with which dry runs were once asked for."""
        yes, no = (("1", "t", "T", "true", "TRUE", "True"), ("0", "f", "F", "false", "FALSE", "False"))
        if value not in yes and value not in no:
            raise CommandError(f'Invalid dry-run value ({value}). Must be "none", "server", or "client".')
        means, line = ("client", 728) if value in yes else ("none", 731)
        text = f"--dry-run={value} is deprecated (boolean value) and can be replaced with --dry-run={means}."
        log.line(f"helpers.go:{line}", text, 0, "W")
        return means

    def write_query(self, manager: str = "") -> dict[str, Any]:
        """Return the parameters of a request that changes something."""
        query: dict[str, Any] = {}
        if self.flags.has("dry-run") and self.flags.dry_run == "server":
            query["dryRun"] = "All"
        if self.flags.has("field-manager") and (self.flags.field_manager or manager):
            query["fieldManager"] = self.flags.field_manager or manager
        elif manager:
            query["fieldManager"] = manager
        if self.flags.has("validate"):
            query["fieldValidation"] = self.validation()
        return query

    def record(self, value: Object) -> Object:
        """Return an object with the command line as the cause of its change, if --record asks for it."""
        if not self.flags.record:
            return value
        words = [self.path, *self.args, *(f"--{name}={text}" for name, text in self.flags.given)]
        metadata = value.get("metadata") or {}
        annotations = {**(metadata.get("annotations") or {}), "kubernetes.io/change-cause": " ".join(words)}
        return {**value, "metadata": {**metadata, "annotations": annotations}}

    def validation(self) -> str:
        """Return the field validation that the server is asked for."""
        value = self.flags.validate
        known = {"true": "Strict", "strict": "Strict", "warn": "Warn", "false": "Ignore", "ignore": "Ignore"}
        if value not in known:
            raise CommandError(
                f'invalid - validate option "{value}"; must be one of: strict (or true), warn, ignore (or false)'
            )
        return known[value]
