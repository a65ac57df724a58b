"""taint: marks nodes that only some pods may run on."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands._metadata_changes import split
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, Several
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.built_in import SCHEME

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Update the taints on one or more nodes"
USAGE = "taint NODE NAME KEY_1=VAL_1:TAINT_EFFECT_1 ... KEY_N=VAL_N:TAINT_EFFECT_N"
COMPLETION = "types node"
FLAGS = (
    shared_flags.PRINT, shared_flags.DRY_RUN, shared_flags.SELECTOR, shared_flags.VALIDATE, shared_flags.field_manager("kubectl-taint"),
    """
- all bool false | all nodes
- overwrite bool false | change taints that are there already
""",
)  # fmt: skip
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def run(context: Context) -> None:
    """Set and remove taints of nodes."""
    flags = context.flags
    dry_run = context.dry_run()
    resources, texts = split(context.args, "taint", _is_taint)
    if not resources:
        raise CommandError("one or more resources must be specified as <resource> <name>")
    if not texts:
        raise CommandError("at least one taint update is required")
    try:
        wanted, removed = parse(texts)
    except CommandError as error:
        raise context.usage(error.message) from None
    if flags.all and flags.selector:
        raise CommandError("setting 'all' parameter with a non empty selector is prohibited")
    if not flags.all and not flags.selector and len(resources) < 2:
        raise CommandError("at least one resource name must be specified since 'all' parameter is not set")
    if context.discovery.find(resources[0], attempts=2).kind != "Node":
        raise CommandError(f"invalid resource type {resources[0]}, only node types are supported")
    both = [
        f"{other['key']}={other.get('effect', '')}"
        for other in removed
        if any(_same(taint, other) for taint in wanted)
    ]
    if both:
        raise CommandError(
            f"can not both modify and remove the following taint(s) in the same command: {', '.join(both)}"
        )
    builder = Builder.from_flags(
        context,
        args=resources[:1] if flags.all or flags.selector else resources,
        continue_on_error=True,
        select_all=False,
        empty_selector=flags.all,
        scheme=SCHEME,
    )
    for info in builder.infos():
        try:
            operation, taints = apply(info.object, wanted, removed, flags.overwrite)
        except CommandError as error:
            builder.errors.append(error)
            continue
        value = {**info.object, "spec": {**(info.object.get("spec") or {}), "taints": taints}}
        if dry_run != "client":
            patch = {"spec": {"taints": taints or None}}
            value = context.client.patch(
                info.resource, "", info.name, patch, "strategic", query=context.write_query()
            )
        printers.make(context, operation, suffix=False)(value)
    builder.finish()


def _is_taint(word: str) -> bool:
    return "=" in word or ":" in word or word.endswith("-")


def parse(texts: list[str]) -> tuple[list[Object], list[Object]]:
    """Return the taints to set and those to remove."""
    wanted: list[Object] = []
    removed: list[Object] = []
    for text in texts:
        if text.endswith("-"):
            removed.append(_taint(text[:-1], text, effect_needed=False))
        else:
            taint = _taint(text, text, effect_needed=True)
            if any(_same(taint, other) for other in wanted):
                key_value_effect = f"{taint['key']} {taint.get('value', '')} {taint['effect']} <nil>"
                raise CommandError(f"duplicated taints with the same key and effect: {{{key_value_effect}}}")
            wanted.append(taint)
    return wanted, removed


def _taint(text: str, whole: str, *, effect_needed: bool) -> Object:
    from pybernetes.api.validation.names import label_value, qualified_name

    pair, colon, effect = text.partition(":")
    key, equals, value = pair.partition("=") if colon else (pair, "", "")
    if ":" in effect or "=" in value:
        raise CommandError(f"invalid taint spec: {whole}")
    if colon and effect not in _EFFECTS:
        raise CommandError(f"invalid taint effect: {effect}, unsupported taint effect")
    if errors := qualified_name(key):
        raise CommandError(f"invalid taint spec: {text}, {'; '.join(errors)}")
    if equals and (errors := label_value(value)):
        raise CommandError(f"invalid taint spec: {text}, {'; '.join(errors)}")
    if effect_needed and not colon:
        raise CommandError(f"invalid taint spec: {whole}")
    taint: Object = {"key": key}
    if value:
        taint["value"] = value
    if effect:
        taint["effect"] = effect
    return taint


def _same(left: Object, right: Object) -> bool:
    return left["key"] == right["key"] and (not right.get("effect") or left.get("effect") == right["effect"])


def _text(taint: Object) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint['effect']}" if taint.get("effect") else taint["key"] + value


def apply(
    node: Object, wanted: list[Object], removed: list[Object], overwrite: bool
) -> tuple[str, list[Object]]:
    """Return what happens to a node, and its taints afterwards."""
    current = list((node.get("spec") or {}).get("taints") or [])
    name = node["metadata"]["name"]
    if not overwrite:
        taken = [
            taint["key"]
            for taint in wanted
            for known in current
            if known["key"] == taint["key"] and known.get("effect") == taint.get("effect")
        ]
        if taken:
            raise CommandError(
                f"node {name} already has {','.join(dict.fromkeys(taken))} taint(s) with same effect(s) and --overwrite is false"
            )
    missing = [taint for taint in removed if not any(_same(known, taint) for known in current)]
    if missing:
        errors = [CommandError(f'taint "{_text(taint)}" not found') for taint in missing]
        raise errors[0] if len(errors) == 1 else Several(errors)
    kept = [
        known for known in current
        if not any(_same(known, taint) for taint in removed)
        and not any(known["key"] == taint["key"] and known.get("effect") == taint.get("effect") for taint in wanted)
    ]  # fmt: skip
    operation = "modified" if (wanted and removed) or overwrite else "tainted" if wanted else "untainted"
    return operation, [*wanted, *kept]
