"""kubeadm token: the tokens by which nodes join."""

from __future__ import annotations

import asyncio
import base64
import datetime
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.api.text import durations
from pybernetes.client.client import Client
from pybernetes.client.errors import AlreadyExists, NotFound, StatusError
from pybernetes.client.kubeconfig_files import paths as usual_paths
from pybernetes.client.refs import CONFIG_MAPS, SECRETS
from pybernetes.lib import rfc3339
from pybernetes.lib.flags import Flag, Seconds
from pybernetes.tools.kubeadm import command_line, join_command, kubeconfig_files, output, tokens
from pybernetes.tools.kubeadm.command_line import Arguments, Command
from pybernetes.tools.kubeadm.configuration import defaults, documents
from pybernetes.tools.kubeadm.discovery import cluster_of, parsed
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.init_data import say
from pybernetes.tools.kubeadm.locations import BOOTSTRAPPERS, NAMESPACE

SUMMARY = "Manage bootstrap tokens"
# As upstream's messages show them.
_IDENTITY = "\\\\A([a-z0-9]{6})\\\\z"
_WHOLE = "\\\\A([a-z0-9]{6})\\\\.([a-z0-9]{16})\\\\z"
_COMMON = (command_line.KUBECONFIG, command_line.DRY_RUN)
_CREATE = (
    command_line.CONFIG,
    Flag("certificate-key", "", "With --print-join-command, print the command of a control plane."),
    Flag("description", "", "A human friendly description of how this token is used."),
    Flag("groups", (BOOTSTRAPPERS,), "Extra groups that this token will authenticate as."),
    Flag(
        "print-join-command",
        False,
        "Instead of printing only the token, print the full 'kubeadm join' command.",
    ),
    Flag("ttl", Seconds(86400), "The duration before the token is automatically deleted; 0 for never."),
    Flag("usages", tokens.USAGES, "In which ways this token can be used: signing, authentication."),
)


def _generate(arguments: Arguments) -> None:
    print(tokens.generate())


def _work(action: Callable[[Client, Arguments, list[str]], Awaitable[None]]) -> Callable[[Arguments], None]:
    def work(arguments: Arguments) -> None:
        words = arguments.words
        if action is _create:
            command_line.check_mixed(arguments)
            if words:
                tokens.parts(words[0])
        if action is _delete and not words:
            raise KubeadmError(
                f'missing argument; \'token delete\' is missing token of form "{_WHOLE}" or "{_IDENTITY}"'
            )
        asyncio.run(_with(arguments, words, action))

    return work


def kubeconfig_path(arguments: Arguments, environment: Mapping[str, str]) -> Path:
    """Return the kubeconfig of a command line, else the first of the usual ones that is there."""
    if arguments.was_given("kubeconfig"):
        return Path(arguments.kubeconfig)
    usual = [Path(path) for path in (*usual_paths(environment), arguments.kubeconfig)]
    return next((path for path in usual if path.exists()), usual[0])


async def _with(
    arguments: Arguments, words: list[str], work: Callable[[Client, Arguments, list[str]], Awaitable[None]]
) -> None:
    config = kubeconfig_files.load(kubeconfig_path(arguments, dict(os.environ)))
    async with config.client(user_agent="kubeadm") as client:
        try:
            await work(client, arguments, words)
        except (StatusError, OSError) as error:
            raise KubeadmError(str(error)) from None


def _wanted(arguments: Arguments, words: list[str]) -> list[Object]:
    if arguments.config:
        given = documents.read(documents.read_own(arguments.config)).own.get("InitConfiguration") or {}
        return [defaults.token(entry) for entry in given.get("bootstrapTokens") or [{}]]
    token: Object = {"usages": list(arguments.usages), "ttl": f"{int(arguments.ttl)}s"}
    if "authentication" in arguments.usages:
        token["groups"] = list(arguments.groups)
    if arguments.description:
        token["description"] = arguments.description
    if words:
        token["token"] = words[0]
    unknown = sorted(set(arguments.usages) - set(tokens.USAGES))
    if unknown:
        raise KubeadmError(
            f"invalid bootstrap token usage string: {','.join(unknown)}, valid usage options: authentication,signing"
        )
    for group in token.get("groups") or ():
        if tokens.problem_with_group(group):
            raise KubeadmError(tokens.problem_with_group(group))
    return [token]


async def _create(client: Client, arguments: Arguments, words: list[str]) -> None:
    now = datetime.datetime.now(datetime.UTC)
    wanted = _wanted(arguments, words)
    if arguments.certificate_key and not arguments.print_join_command:
        raise KubeadmError("cannot use --certificate-key without --print-join-command")
    for token in wanted:
        token["token"] = token.get("token") or tokens.generate()
        try:
            await client.create(SECRETS, tokens.secret(token, now), dry_run=arguments.dry_run)
        except AlreadyExists:
            identity, _ = tokens.parts(token["token"])
            raise KubeadmError(f'a token with id "{identity}" already exists') from None
    if not arguments.print_join_command:
        say(wanted[0]["token"])
        return

    cluster_info = await client.get(CONFIG_MAPS, "cluster-info", "kube-public")
    cluster = cluster_of(parsed(cluster_info["data"]["kubeconfig"]))
    authority = base64.b64decode(cluster.get("certificate-authority-data") or "")
    command = join_command.text(cluster["server"], wanted[0]["token"], authority).replace(" \\\n\t", " ")
    if arguments.certificate_key:
        command += f" --control-plane --certificate-key {arguments.certificate_key}"
    say(command)


def left(expires: str, now: datetime.datetime) -> str:
    """Return how long a token is good, in one unit."""
    if not expires:
        return "<forever>"
    try:
        seconds = int(rfc3339.parse(expires) - now.timestamp())
    except ValueError:
        return "<invalid>"
    return durations.short_duration(seconds)


async def _list(client: Client, arguments: Arguments, words: list[str]) -> None:
    show = output.printer(arguments, _Rows())
    page = await client.list(SECRETS, NAMESPACE, fields=f"type={tokens.TYPE}")
    for secret in page.items:
        try:
            token = tokens.from_secret(secret)
        except KubeadmError as error:
            print(error, file=sys.stderr)
            continue
        show(output.typed("BootstrapToken", {name: value for name, value in token.items() if value}))


class _Rows:
    """Tokens for people, a row for each; the first comes with the names of the columns."""

    def __init__(self) -> None:
        self._head = [("TOKEN", "TTL", "EXPIRES", "USAGES", "DESCRIPTION", "EXTRA GROUPS")]

    def __call__(self, token: Object) -> str:
        head, self._head = self._head, []
        now = datetime.datetime.now(datetime.UTC)
        expires = token.get("expires", "")
        usages, groups = ",".join(token.get("usages", ())), ",".join(token.get("groups", ()))
        row = (
            token["token"],
            f"{left(expires, now):<9}",
            expires or "<never>",
            f"{usages or '<none>':<22}",
            f"{token.get('description') or '<none>':<56}",
            groups or "<none>",
        )
        return output.table([*head, row])


async def _delete(client: Client, arguments: Arguments, words: list[str]) -> None:
    for word in words:
        identity = word if tokens.TOKEN_ID.match(word) else None
        if identity is None:
            if not tokens.TOKEN.match(word):
                raise KubeadmError(f'given token "{word}" didn\'t match pattern "{_IDENTITY}" or "{_WHOLE}"')
            identity = tokens.parts(word)[0]
        try:
            await client.delete(SECRETS, tokens.secret_name(identity), NAMESPACE, dry_run=arguments.dry_run)
        except NotFound:
            raise KubeadmError(
                f'failed to delete bootstrap token "{identity}": secrets "bootstrap-token-{identity}" not found'
            ) from None
        say(f'bootstrap token "{identity}" deleted')


COMMAND = Command(
    "token",
    SUMMARY,
    flags=_COMMON,
    commands=(
        Command(
            "create",
            "Create bootstrap tokens on the server",
            _work(_create),
            (*_CREATE, *_COMMON),
            words="[token]",
            most=1,
        ),
        Command(
            "delete",
            "Delete bootstrap tokens on the server",
            _work(_delete),
            _COMMON,
            words="[token-value] ...",
            most=1 << 10,
        ),
        Command(
            "generate",
            "Generate and print a bootstrap token, but do not create it on the server",
            _generate,
            _COMMON,
        ),
        Command("list", "List bootstrap tokens on the server", _work(_list), (*output.FLAGS, *_COMMON)),
    ),
)
