"""set env."""

from __future__ import annotations

import os
import re

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands.create._sources import check_variable
from pybernetes.tools.kubectl.commands.set import _references
from pybernetes.tools.kubectl.commands.set._change import (
    COMMON,
    change,
    check,
    matching,
    no_template,
    pod_spec,
)
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.built_in import SCHEME
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Update environment variables on a pod template"
USAGE = "set env RESOURCE/NAME KEY_1=VAL_1 ... KEY_N=VAL_N"
FLAGS = (*COMMON, shared_flags.field_manager("kubectl-set"), """
c containers string * | containers to change; * may stand for anything
e env array | variable as key=value; may be repeated
- from string | config map or secret whose keys become variables: TYPE/NAME
- keys list | only these keys of --from
- list bool false | show the variables
- overwrite bool true | change variables that are there already
- prefix string | what the names of variables from --from begin with
- resolve bool false | with --list, show the values that references mean
""")  # fmt: skip


def run(context: Context) -> None:
    """Set, remove or list environment variables."""
    flags = context.flags
    if "-" in flags.filename and "-" in (*context.args, *flags.env):
        raise CommandError("standard input cannot be used for multiple arguments")
    resources, wanted, removed = _parse(context)
    if not resources and not flags.filename:
        raise CommandError(
            "one or more resources must be specified as <resource> <name> or <resource>/<name>"
        )
    check(context)
    if flags.list and flags.output:
        raise CommandError("--list and --output may not be specified together")
    source = flags.__getattr__("from")
    if flags.keys and not source:
        raise CommandError("when specifying --keys, a configmap or secret must be provided with --from")
    if source:
        wanted += _from_source(context, source)
    if flags.list:
        _list(context, resources, wanted, removed)
        return

    def edit(info: Info, value: Object) -> None:
        spec = pod_spec(value)
        if spec is None:
            raise no_template(context, info)
        chosen = matching(spec.get("initContainers") or [], flags.containers)
        chosen += matching(spec.get("containers") or [], flags.containers)
        if not chosen:
            _tell_none(context, info)
        for container in chosen:
            if container.get("env") or wanted:
                try:
                    container["env"] = _merged(container.get("env") or [], wanted, removed, flags.overwrite)
                except CommandError as error:
                    raise CommandError(f"{info.resource.plural}/{info.name} {error.message}") from None
                if not container["env"]:
                    del container["env"]

    change(context, resources, "env updated", edit, "failed to patch env update to pod template: ")


def _parse(context: Context) -> tuple[list[str], list[Object], list[str]]:
    resources: list[str] = []
    pairs: list[str] = []
    for word in context.args:
        if "=" in word or word == "-" or (word.endswith("-") and not word.startswith("-")):
            pairs.append(word)
        elif pairs:
            raise CommandError(
                f"all resources must be specified before environment changes: {' '.join(context.args)}"
            )
        else:
            resources.append(word)
    wanted: list[Object] = []
    removed: list[str] = []
    for pair in [*pairs, *context.flags.env]:
        if pair == "-":
            text = context.take_input().read()
            wanted += [
                _variable(line) for line in text.splitlines() if "=" in line and not line.startswith("#")
            ]
        elif "=" in pair:
            wanted.append(_variable(pair))
        elif pair.endswith("-"):
            removed.append(pair[:-1])
        else:
            wanted.append({"name": pair, "value": os.environ.get(pair, "")})
    if {variable["name"] for variable in wanted} & set(removed):
        raise CommandError("can not both modify and remove the same environment variable in the same command")
    return resources, wanted, removed


def _variable(pair: str) -> Object:
    name, _, value = pair.partition("=")
    check_variable(name)
    return {"name": name, "value": value}


def _from_source(context: Context, text: str) -> list[Object]:
    flags = context.flags
    info = Builder(context, args=[text]).all()[0]
    key = {"ConfigMap": "configMapKeyRef", "Secret": "secretKeyRef"}.get(info.resource.kind)
    if key is None:
        raise CommandError("unsupported resource specified in --from")
    variables = []
    for name in info.object.get("data") or {}:
        if flags.keys and name not in flags.keys:
            continue
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name).upper()
        if plain != name:
            context.warn(f"Warning: key {name} transferred to {plain}")
        variable = flags.prefix + plain
        variables.append({"name": variable, "valueFrom": {key: {"key": name, "name": info.name}}})
    return sorted(variables, key=lambda variable: variable["name"])


def _merged(current: list[Object], wanted: list[Object], removed: list[str], overwrite: bool) -> list[Object]:
    merged = [dict(variable) for variable in current if variable["name"] not in removed]
    for variable in wanted:
        known = next((item for item in merged if item["name"] == variable["name"]), None)
        if known is None:
            merged.append(variable)
        elif not overwrite and known != variable:
            raise CommandError(
                f"'{known['name']}' already has a value ({known.get('value', '')}), and --overwrite is false"
            )
        else:
            known.clear()
            known.update(variable)
    return merged


def _list(context: Context, resources: list[str], wanted: list[Object], removed: list[str]) -> None:
    """Print the variables as they would be with those that are given."""
    flags = context.flags
    builder = Builder.from_flags(
        context,
        args=resources,
        select_all=False,
        empty_selector=flags.all,
        latest=not flags.local,
        scheme=SCHEME,
    )
    for info in builder.infos():
        spec = pod_spec(info.object)
        if spec is None:
            continue
        containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
        chosen = matching(containers, flags.containers)
        if not chosen:
            _tell_none(context, info)
        for container in chosen:
            try:
                variables = _merged(container.get("env") or [], wanted, removed, flags.overwrite)
            except CommandError:
                break  # what may not be changed is not shown
            context.out(context.shown(f"# {info.resource.kind} {info.name}, container {container['name']}"))
            _show(context, variables, info.object, container, containers)


def _show(
    context: Context, variables: list[Object], owner: Object, container: Object, containers: list[Object]
) -> None:
    """Print variables, and then which references could not be followed."""
    failed: dict[str, list[str]] = {}
    for variable in variables:
        name, source = variable["name"], variable.get("valueFrom")
        if source is None:
            context.out(context.shown(f"{name}={variable.get('value', '')}"))
            continue
        text = f"# {name} from {_references.told(source)}"
        if context.flags.resolve:
            try:
                text = f"{name}={_references.value(context, source, owner, container, containers)}"
            except CommandError as error:
                failed.setdefault(error.message, []).append(name)
        context.out(context.shown(text))
    for line in sorted(f"{', '.join(sorted(names))}: {why}" for why, names in failed.items()):
        context.warn(f"error retrieving reference for {line}")


def _tell_none(context: Context, info: Info) -> None:
    context.warn(
        f'Warning: {info.resource.kind}/{info.name} does not have any containers matching "{context.flags.containers}"'
    )
