"""What could follow on a command line: commands, flags and their values, resource types, names.

The answer has cobra's form, so that the scripts of any kubectl can ask ours: a choice per line, with a tab and a
description after it where there is one, then a colon and a number of flags for the shell.

A command says with COMPLETION what its arguments are; the first word is one of these, others may follow it:

types [TYPE …]     a type (of these, if some are given), then names of that type; or TYPE/NAME
pods [containers]  a pod, or something that has pods; then, with the second word, one of its containers (or ports)
names RESOURCE     one object of a resource
kubeconfig PLURAL  one cluster, user or context of the kubeconfig
files              files here and in pods
words WORD …       one of these words
"""

from __future__ import annotations

import os

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.command_line.flags import Flag, FlagError, HelpWanted, declare, parse
from pybernetes.tools.kubectl.command_line.lookup import COMMANDS, find, group_of, load, names, texts_of_flags
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError

if TYPE_CHECKING:
    from typing import Any


FILES, NO_SPACE, NO_FILES, EXTENSIONS = 0, 2, 4, 8
_DIRECTIVES = {
    NO_SPACE: "ShellCompDirectiveNoSpace", NO_FILES: "ShellCompDirectiveNoFileComp",
    EXTENSIONS: "ShellCompDirectiveFilterFileExt",
}  # fmt: skip
_WITH_PODS = ("daemonsets", "deployments", "pods", "jobs", "replicasets", "replicationcontrollers", "services", "statefulsets")  # fmt: skip
_OUTPUTS = (
    "json", "yaml", "kyaml", "name", "go-template", "go-template-file", "template", "templatefile", "jsonpath",
    "jsonpath-as-json", "jsonpath-file", "custom-columns", "custom-columns-file", "wide",
)  # fmt: skip
_SAID = ("vmodule",)  # flags that are offered though help does not name them
Answer = tuple[list[str], int]


class _NoSuch(Exception):
    """No command has the name that was typed; the text is for whoever looks into completion."""


def complete(words: list[str], streams: dict[str, Any], described: bool = True) -> tuple[str, str]:
    """Return the choices and the message for the words of a line, the last of which is unfinished."""
    *before, last = words or [""]
    if before == ["help"]:
        before = []
    said = ""
    try:
        choices, directive = _answer(before, last, streams)
    except _NoSuch as error:
        choices, directive, said = [], FILES, str(error)
    except (FlagError, HelpWanted):
        choices, directive = [], FILES
    except CommandError:
        choices, directive = [], NO_FILES
    told = (
        ", ".join(word for bit, word in _DIRECTIVES.items() if directive & bit) or "ShellCompDirectiveDefault"
    )
    if not described:
        choices = [choice.partition("\t")[0] for choice in choices]
    printed = "".join(f"{choice}\n" for choice in choices) + f":{directive}\n"
    return printed, f"{said}Completion ended with directive: {told}\n"


def _answer(before: list[str], last: str, streams: dict[str, Any]) -> Answer:
    common = declare(shared_flags.GLOBAL)
    command, path, rest = find(before, common)
    flags = {**(declare(*texts_of_flags(command)) if command else {}), **common}
    wanted = None
    if "--" not in before:
        name, equals, value = last.partition("=")
        if last.startswith("-") and equals:
            wanted, last = valued(name, flags), value
            if wanted is None:
                return [], FILES
        elif before and (wanted := valued(before[-1], flags)) is not None:
            command, path, rest = find(before[:-1], common)
        elif last.startswith("-"):
            return flag_names(flags, last), NO_FILES
    if command is None and wanted is None:
        if [word for word in rest if not word.startswith("-")]:
            raise _NoSuch(
                "[Debug] Cleared global flags for plugin completion\n"
                f"[Debug] [Error] unable to find a command for arguments: [{' '.join(rest)}]\n"
            )
        return _described(COMMANDS, last), NO_FILES
    context = Context(parse(rest, flags), path, command, **streams)
    where = path.partition(" ")[2]
    if wanted is not None:
        return _value(context, where, wanted.name, last)
    if command is not None and (package := group_of(command)) and not context.args:
        nested = _described(package, last)
        if nested or where != "apply":
            return nested, NO_FILES
    offered, directive = _arguments(context, context.args, last)
    return _required(context, flags, last) + offered, directive


def _required(context: Context, flags: dict[str, Flag], last: str) -> list[str]:
    """Return the flags that must be given and are not yet."""
    wanted = [name for name in getattr(context.command, "REQUIRED", ()) if name not in context.flags.changed]
    return [f"--{name}\t{flags[name].help}" for name in wanted if f"--{name}".startswith(last)]


def valued(word: str, flags: dict[str, Flag]) -> Flag | None:
    """Return the flag whose value follows a word, if it needs one."""
    if word.startswith("--"):
        wanted = flags.get(word[2:])
        return wanted if wanted is not None and wanted.bare is None else None
    shorts = {flag.short: flag for flag in flags.values() if flag.short}
    for place, letter in enumerate(word[1:] if word.startswith("-") else "", 2):
        wanted = shorts.get(letter)
        if wanted is None:
            return None
        if wanted.bare is None:
            return wanted if place == len(word) else None
    return None


def flag_names(flags: dict[str, Flag], last: str) -> list[str]:
    """Return the flags that begin like a word, each with its description: those of every command, then the command's own."""
    common = declare(shared_flags.GLOBAL)
    helping = Flag("h help bool false | explains the command")
    shown = [flag for flag in flags.values() if not flag.hidden or flag.name in _SAID]
    own = sorted([*(flag for flag in shown if flag.name not in common), helping], key=lambda flag: flag.name)
    shared = sorted((flag for flag in shown if flag.name in common), key=lambda flag: flag.name)
    names = [
        (name, flag.help)
        for flag in (shared + own if own != [helping] else sorted(shared + own, key=lambda flag: flag.name))
        for name in (f"--{flag.name}", f"-{flag.short}" if flag.short else "")
    ]
    return [f"{name}\t{text}" for name, text in names if name and name.startswith(last)]


def _value(context: Context, path: str, flag: str, last: str) -> Answer:
    if flag == "namespace":
        return _starting(_objects(context, "namespaces"), last), NO_FILES
    if flag in ("context", "cluster", "user"):
        return _starting(_configured(context, f"{flag}s"), last), NO_FILES
    if flag == "output" and path == "get":
        return _starting(list(_OUTPUTS), last), NO_FILES
    if flag == "container" and path in ("exec", "cp") and context.args:
        return _starting(_containers(context, context.args[0]), last), NO_FILES
    if flag == "filename":
        return ["json", "yaml", "yml"], EXTENSIONS
    return [], FILES


def _arguments(context: Context, args: list[str], last: str) -> Answer:
    kind, *words = getattr(context.command, "COMPLETION", "").split() or [""]
    match kind:
        case "types":
            return _typed(context, words, args, last), NO_FILES
        case "pods" if not args:
            return _pods(context, last)
        case "pods" if words and len(args) == 1:
            choices = _ports(context, args[0], last) if words[0] == "ports" else _containers(context, args[0])
            return _starting(choices, last), NO_FILES
        case "names" if not args:
            return _starting(_objects(context, words[0]), last), NO_FILES
        case "kubeconfig" if not args:
            return _starting(_configured(context, words[0]), last), NO_FILES
        case "words" if not args:
            return _starting(words, last), NO_FILES
        case "files" if len(args) < 2:
            choices = [f"{name}/" for name in _objects(context, "namespaces")]
            choices += [f"{name}:" for name in _objects(context, "pods")]
            choices += ["./", "/"] if not last else []
            choices = _starting(choices, last)
            # A shell offers files itself only where nothing else is offered.
            return choices + (_files(last) if choices and last and not args else []), NO_SPACE
    return [], FILES if kind in ("", "files") else NO_FILES


def _files(last: str) -> list[str]:
    """Return the files and folders here that begin like a word."""
    if "/" in last or ":" in last:
        return []
    entries = sorted(os.scandir("."), key=lambda entry: entry.name)
    names = [f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name for entry in entries]
    return _starting(names, last)


def _typed(context: Context, allowed: list[str], args: list[str], last: str) -> list[str]:
    if args and "/" not in args[0]:
        choices = [name for word in args[0].split(",") for name in _objects(context, word)]
        return [choice for choice in _starting(choices, last) if choice not in args[1:]]
    kind, slash, _ = last.partition("/")
    if slash:
        choices = [f"{kind}/{name}" for name in _objects(context, kind)]
        return [choice for choice in _starting(choices, last) if choice not in args]
    return _starting(allowed or _types(context), last) if not args else []


def _pods(context: Context, last: str) -> Answer:
    kind, slash, _ = last.partition("/")
    if slash:
        return _starting([f"{kind}/{name}" for name in _objects(context, kind)], last), NO_FILES
    pods = _starting(_objects(context, "pods"), last)
    kinds = _starting([f"{kind}/" for kind in _WITH_PODS], last)
    return pods + kinds, NO_FILES | (NO_SPACE if not pods else 0)


def _containers(context: Context, word: str) -> list[str]:
    from pybernetes.tools.kubectl.resources.pods import named, pods_of

    spec = pods_of(context, named(context, word), 0)[0].get("spec") or {}
    return [
        container["name"] for key in ("initContainers", "containers") for container in spec.get(key) or ()
    ]


def _types(context: Context) -> list[str]:
    try:
        known = context.discovery.resources(1)
    except CommandError:
        return []
    known = [resource for resource in known if resource.preferred and "get" in resource.verbs]
    return [
        resource.full_name
        for resource in sorted(known, key=lambda resource: (resource.group, resource.plural))
    ]


def _configured(context: Context, key: str) -> list[str]:
    return [entry["name"] for entry in context.config.get(key) or ()]


def _objects(context: Context, word: str) -> list[str]:
    """Return the names of the objects that a word means; none if they cannot be had."""
    names: list[str] = []
    try:
        for resource in context.discovery.category(word) or [context.discovery.find(word)]:
            namespace = context.namespace if resource.namespaced else ""
            listed = context.client.list(resource, namespace).get("items") or ()
            names += [item["metadata"]["name"] for item in listed]
    except CommandError:
        return []
    return names


def _ports(context: Context, word: str, last: str) -> list[str]:
    """Return the ports of a pod or a service, each behind the local port that is begun, or behind itself."""
    from pybernetes.tools.kubectl.resources.pods import named, pods_of

    info = named(context, word)
    if info.resource.kind == "Service":
        numbers = [port["port"] for port in (info.object.get("spec") or {}).get("ports") or ()]
    else:
        spec = pods_of(context, info, 0)[0].get("spec") or {}
        listed = [port for container in spec.get("containers") or () for port in container.get("ports") or ()]
        numbers = [port["containerPort"] for port in listed]
    local = last.partition(":")[0]
    return [f"{local or number}:{number}" for number in numbers]


def _described(package: str, last: str) -> list[str]:
    """Return the commands that begin like a word, each with what it is for."""
    known = [name for name in names(package) if name.startswith(last) and name != "alpha"]
    commands = {name: load(package, name) for name in sorted(known)}
    return [f"{name}\t{command.SUMMARY}" for name, command in commands.items() if command is not None]


def _starting(choices: list[str], last: str) -> list[str]:
    return [choice for choice in choices if choice.startswith(last)]
