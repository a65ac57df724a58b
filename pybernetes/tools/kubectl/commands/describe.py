"""describe: shows objects in words, with what belongs to them."""

from __future__ import annotations

from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.describe.describer import describe
from pybernetes.tools.kubectl.errors import CommandError, Several, not_found
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.info import Info

SUMMARY = "Show details of a specific resource or group of resources"
USAGE = "describe (-f FILENAME | TYPE [NAME_PREFIX | -l label] | TYPE/NAME)"
COMPLETION = "types"
FLAGS = (
    shared_flags.FILES, shared_flags.SELECTOR, shared_flags.ALL_NAMESPACES, shared_flags.CHUNK,
    "- show-events bool true | show the events of the objects\n",
)  # fmt: skip


def run(context: Context) -> None:
    """Describe what the arguments name; a name that does not exist may be a prefix of others."""
    flags = context.flags
    if not context.args and not flags.filename and not flags.kustomize:
        raise CommandError(
            'You must specify the type of resource to describe. Use "kubectl api-resources" for a complete list of '
            "supported resources."
        )
    builder = Builder.from_flags(context, continue_on_error=True, empty_selector=True, settled=True)
    try:
        infos = builder.all()
    except CommandError as error:
        if not_found(error) and len(context.args) == 2:
            _by_prefix(context, error)
            return
        raise
    if builder.errors and len(context.args) == 2 and not_found(builder.errors[0]):
        _by_prefix(context, builder.errors[0])
        return
    events = flags.show_events and (len(infos) < 2 or "show-events" in flags.changed)
    any_shown = False
    for info in infos:
        if not info.name:
            raise CommandError("resource name may not be empty")
        try:
            _read(context, info)
        except CommandError as error:
            builder.errors.append(error)
            continue
        if any_shown:
            context.stdout.write("\n\n")
        context.stdout.write(describe(context, info, events))
        any_shown = True
    if not infos and not builder.errors:
        where = "" if flags.all_namespaces else f" in {context.namespace} namespace."
        context.warn(f"No resources found{where}")
    if builder.errors:
        raise Several(builder.errors)


def _read(context: Context, info: Info) -> None:
    """Read an object that a file names."""
    if info.source:
        info.object = context.client.get(info.resource, info.namespace, info.name)


def _by_prefix(context: Context, error: CommandError) -> None:
    word, prefix = context.args
    resource = context.discovery.find(word)
    namespace = context.namespace if resource.namespaced and not context.flags.all_namespaces else ""
    any_match = False
    events = context.flags.show_events and "show-events" in context.flags.changed
    for item in context.client.list(resource, namespace, labels=context.flags.selector).get("items") or ():
        metadata = item["metadata"]
        if metadata["name"].startswith(prefix):
            item.setdefault("apiVersion", resource.api_version)
            item.setdefault("kind", resource.kind)
            info = Info(resource, metadata.get("namespace", ""), metadata["name"], item)
            any_match = True
            context.stdout.write(describe(context, info, events) + "\n")
    if not any_match:
        raise error
