"""Nodes of cordon, uncordon and drain."""

from __future__ import annotations

from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, Verbatim, raise_all
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.built_in import SCHEME
from pybernetes.tools.kubectl.resources.info import Info
from pybernetes.tools.kubectl.resources.named_objects import MISSING


def nodes(context: Context, usage: str) -> tuple[Builder, list[Info]]:
    """Return the nodes that the arguments name."""
    context.dry_run()
    if not context.args and not context.flags.selector:
        if "selector" in context.flags.changed:
            raise Verbatim("error: " + MISSING)
        raise context.usage(f"USAGE: {usage} [flags]")
    if context.args and context.flags.selector:
        raise context.usage("error: cannot specify both a node name and a --selector option")
    if context.flags.selector:
        args = ["nodes"]
    elif any("/" in word for word in context.args):
        args = [word if "/" in word else f"nodes/{word}" for word in context.args]
    else:
        args = ["nodes", *context.args]
    chunk = 0
    if context.flags.selector:
        chunk = context.flags.chunk_size if context.flags.has("chunk-size") else 500
    # The first node that cannot be had ends the command, before anything is done.
    builder = Builder.from_flags(context, args=args, chunk=chunk, categories=False, scheme=SCHEME)
    infos = builder.all()
    for info in infos:
        if info.resource.kind != "Node":
            raise CommandError(
                f'error: expected resource of type node, got "{info.resource.group}/{info.resource.version}, Resource={info.resource.plural}"'
            )
    return builder, infos


def cordon(context: Context, info: Info, wanted: bool) -> None:
    """Make a node unschedulable, or schedulable again."""
    suffix = {"client": " (dry run)", "server": " (server dry run)"}.get(context.flags.dry_run, "")
    done = "cordoned" if wanted else "uncordoned"
    if bool((info.object.get("spec") or {}).get("unschedulable")) == wanted:
        context.out(f"node/{info.name} already {done}{suffix}")
        return
    if context.dry_run() != "client":
        query = {"dryRun": "All"} if context.flags.dry_run == "server" else {}
        patch = {"spec": {"unschedulable": True if wanted else None}}
        context.client.patch(info.resource, "", info.name, patch, "strategic", query=query)
    context.out(f"node/{info.name} {done}{suffix}")


def cordon_all(context: Context, usage: str, wanted: bool) -> None:
    """Make the nodes that the arguments name unschedulable, or schedulable again."""
    builder, infos = nodes(context, usage)
    for info in infos:
        cordon(context, info, wanted)
    raise_all(builder.errors)
