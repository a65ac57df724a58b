"""What could follow on a command line: verbs, flags, resource types, names."""

from __future__ import annotations

from typing import Any

from pybernetes.tools.kubectl import flagsets
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.flags import FlagError, HelpWanted, declare, parse
from pybernetes.tools.kubectl.help import names
from pybernetes.tools.kubectl.main import find

_PACKAGE = "pybernetes.tools.kubectl.commands"
_TYPED = {
    "get",
    "describe",
    "delete",
    "edit",
    "label",
    "annotate",
    "patch",
    "scale",
    "expose",
    "wait",
    "rollout",
    "autoscale",
    "explain",
}
_PODS = {"logs", "exec", "attach", "port-forward", "cp", "debug"}


def complete(words: list[str], streams: dict[str, Any]) -> list[str]:
    """The words that could stand in the place of the last one."""
    *before, last = words or [""]
    common = declare(flagsets.GLOBAL)
    command, path, rest = find(before, common)
    if command is None:
        found = [name for name in names(_PACKAGE) if name != "kubectl"]
        return _starting(found if not last.startswith("-") else [f"--{name}" for name in common], last)
    flags = {**declare(*command.FLAGS), **common}
    if last.startswith("-"):
        return _starting([f"--{flag.name}" for flag in flags.values() if not flag.hidden], last)
    group = getattr(command, "GROUP", False)
    found = names(command.__name__) if group and not rest else []
    try:
        values = parse(rest, flags)
    except (FlagError, HelpWanted):
        return _starting(found, last)
    context = Context(values, path, **streams)
    verb = path.split()[1]
    try:
        if before and before[-1] in ("-n", "--namespace"):
            return _starting(_objects(context, "namespaces"), last)
        if verb in _TYPED and (verb != "rollout" or len(path.split()) > 2):
            found = found + _typed(context, values.args, last)
        elif verb in _PODS and not values.args:
            found = found + _objects(context, "pods")
        elif verb in ("cordon", "uncordon", "drain", "taint"):
            found = found + _objects(context, "nodes")
        elif verb == "config" and path.endswith("context"):
            found = [each["name"] for each in context.config.get("contexts") or ()]
    except CommandError:
        pass
    return _starting(found, last)


def _typed(context: Context, args: list[str], last: str) -> list[str]:
    if args:
        return _objects(context, args[0])
    if "/" in last:
        kind = last.partition("/")[0]
        return [f"{kind}/{name}" for name in _objects(context, kind)]
    return sorted(
        {
            each.plural if not each.group or each.preferred else each.full_name
            for each in context.discovery.resources()
        }
    )


def _objects(context: Context, word: str) -> list[str]:
    resource = context.discovery.find(word)
    namespace = context.namespace if resource.namespaced else ""
    return [each["metadata"]["name"] for each in context.client.list(resource, namespace).get("items") or ()]


def _starting(found: list[str], last: str) -> list[str]:
    return sorted({each for each in found if each.startswith(last)})
