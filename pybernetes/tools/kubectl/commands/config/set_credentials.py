"""config set-credentials."""

from __future__ import annotations

import base64
import os

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.config._file import needs_help
from pybernetes.tools.kubectl.config_changes import entries, relative, store
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, quoted

if TYPE_CHECKING:
    from pybernetes.api.resource import Object
    from pybernetes.tools.kubectl.command_line.flags import Values


SUMMARY = "Set a user entry in kubeconfig"
USAGE = "config set-credentials NAME [--client-certificate=path/to/certfile] [--client-key=path/to/keyfile] [--token=bearer_token] [--username=basic_user] [--password=basic_password] [--auth-provider=provider_name] [--auth-provider-arg=key=value] [--exec-command=exec_command] [--exec-api-version=exec_api_version] [--exec-arg=arg] [--exec-env=key=value]"
FLAGS = ("""
- auth-provider string | provider of credentials
- auth-provider-arg list | setting of the provider as key=value
- embed-certs bool false | put certificate and key themselves into the file
- exec-api-version string | API version of the program
- exec-arg list | argument of the program
- exec-command string | program that gives credentials
- exec-env array | environment variable of the program as key=value
- exec-interactive-mode string | IfAvailable, Never or Always
- exec-provide-cluster-info bool false | tell the program about the cluster
""",)  # fmt: skip


def run(context: Context) -> None:
    """Add a user, or change one."""
    flags = context.flags
    if len(context.args) != 1:
        raise needs_help(context, f"unexpected args: [{' '.join(context.args)}]")
    for flag, texts in (("exec-env", flags.exec_env), ("auth-provider-arg", flags.auth_provider_arg)):
        for text in texts:
            if "=" not in text and not text.endswith("-"):
                raise needs_help(context, f"invalid {flag} format: {text}")
    name = context.args[0]
    if not name:
        raise CommandError("you must specify a non-empty user name")
    methods = [
        flag
        for flag, on in (
            ("--token", flags.token),
            ("--username/--password", flags.username or flags.password),
        )
        if on
    ]
    if len(methods) > 1:
        raise CommandError(
            f"you cannot specify more than one authentication method at the same time: {', '.join(methods)}"
        )
    if flags.embed_certs and not flags.client_certificate and not flags.client_key:
        raise CommandError("you must specify a --client-certificate or --client-key to embed")
    if flags.exec_interactive_mode not in ("", "IfAvailable", "Never", "Always"):
        raise CommandError("invalid interactive mode type, can be only IfAvailable, Never, Always")
    value = dict(entries(context, "users").get(name) or {})
    for flag, others in (
        ("token", ("username", "password", "tokenFile")),
        ("username", ("token",)),
        ("password", ("token",)),
    ):
        if flag in flags.changed:
            value[flag] = getattr(flags, flag)
            for other in others if value[flag] else ():
                value.pop(other, None)
    for flag in ("client-certificate", "client-key"):
        if flag in flags.changed:
            path = getattr(flags, flag.replace("-", "_"))
            _pem(
                value,
                flag,
                path if flags.embed_certs or not path else os.path.abspath(path),
                flags.embed_certs,
            )
    _exec(value, flags)
    value = {key: item for key, item in value.items() if item != ""}
    store(context, "users", name, relative(context, "users", name, value))
    context.out(f"User {quoted(name)} set.")


def _pem(value: Object, flag: str, path: str, embed: bool) -> None:
    if not embed:
        value.pop(f"{flag}-data", None)
        value[flag] = path
        return
    try:
        with open(path, "rb") as file:
            value[f"{flag}-data"] = base64.b64encode(file.read()).decode()
    except OSError as error:
        problem = f"stat {path}: {(error.strerror or '').lower()}"
        raise CommandError(f"could not stat {flag} file {path}: {problem}") from None
    value.pop(flag, None)


def _exec(value: Object, flags: Values) -> None:
    if "auth-provider" in flags.changed:
        settings = dict(argument.split("=", 1) for argument in flags.auth_provider_arg if "=" in argument)
        value["auth-provider"] = {"config": settings, "name": flags.auth_provider}
    if "exec-command" not in flags.changed and "exec" not in value:
        return
    if not any(flag.startswith("exec-") for flag in flags.changed):
        return
    entry = dict(value.get("exec") or {"args": None, "command": "", "env": None})
    entry.setdefault("provideClusterInfo", False)
    for flag, key in (
        ("exec-command", "command"), ("exec-api-version", "apiVersion"), ("exec-interactive-mode", "interactiveMode"),
        ("exec-provide-cluster-info", "provideClusterInfo"),
    ):  # fmt: skip
        if flag in flags.changed:
            entry[key] = getattr(flags, flag.replace("-", "_"))
    if flags.exec_arg:
        entry["args"] = flags.exec_arg
    if flags.exec_env:
        wanted = dict(text.split("=", 1) for text in flags.exec_env if "=" in text)
        removed = {text[:-1] for text in flags.exec_env if "=" not in text}
        known = {variable["name"]: variable.get("value", "") for variable in entry.get("env") or ()}
        kept = {name: text for name, text in known.items() if name not in removed}
        variables = {**kept, **wanted}
        entry["env"] = [{"name": name, "value": text} for name, text in variables.items()] or None
    value["exec"] = entry
