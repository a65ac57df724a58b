"""api-resources: lists the resource types that the server has."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output.table import columns
from pybernetes.tools.kubectl.resources.discovery import Resource

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.command_line.flags import Values


SUMMARY = "Print the supported API resources on the server"
USAGE = "api-resources [flags]"
FLAGS = (shared_flags.TEMPLATE, """
- api-group string | only this group
- cached bool false | take what is cached if there is something
- categories list | only these categories
- namespaced bool true | only namespaced resources; false: only the others
- no-headers bool false | leave the headings out
o output string | wide, name, json or yaml
- sort-by string | name or kind
- verbs list | only resources with these verbs
""")  # fmt: skip


def run(context: Context) -> None:
    """Print a line for each resource type."""
    flags = context.flags
    if context.args:
        raise context.usage(f"unexpected arguments: [{' '.join(context.args)}]")
    if flags.output not in ("", "wide", "name", "json", "yaml", "kyaml"):
        raise CommandError(
            f'unable to match a printer suitable for the output format "{flags.output}", allowed formats are: '
            "json,kyaml,name,wide,yaml"
        )
    if flags.sort_by not in ("", "name", "kind"):
        raise CommandError("--sort-by accepts only name or kind")
    resources = context.discovery.resources(1) if flags.cached else context.discovery.refresh(1)
    chosen = sorted(
        (resource for resource in resources if _wanted(flags, resource)), key=_order(flags.sort_by)
    )
    if flags.output in ("json", "yaml", "kyaml"):
        _structured(context, chosen)
        return
    if flags.output == "name":
        for resource in chosen:
            context.out(resource.full_name)
        return
    wide = flags.output == "wide"
    rows = []
    if not flags.no_headers:
        rows.append(
            ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"]
            + (["VERBS", "CATEGORIES"] if wide else [])
        )
    for resource in chosen:
        row = [
            resource.plural,
            ",".join(resource.short_names),
            resource.api_version,
            "true" if resource.namespaced else "false",
            resource.kind,
        ]
        rows.append(row + ([",".join(resource.verbs), ",".join(resource.categories)] if wide else []))
    context.stdout.write(columns(rows))


def _wanted(flags: Values, resource: Resource) -> bool:
    given = flags.changed
    return (
        resource.preferred
        and bool(resource.verbs)
        and ("namespaced" not in given or flags.namespaced == resource.namespaced)
        and ("api-group" not in given or flags.api_group == resource.group)
        and all(verb in resource.verbs for verb in flags.verbs)
        and all(name in resource.categories for name in flags.categories)
    )


def _order(by: str) -> Any:
    if by == "name":
        return lambda resource: resource.plural
    if by == "kind":
        return lambda resource: resource.kind
    return lambda resource: (resource.group, resource.plural)


def _structured(context: Context, chosen: list[Resource]) -> None:
    from pybernetes.tools.kubectl.output import printers

    resources = []
    for resource in chosen:
        entry = {
            "name": resource.plural, "singularName": resource.singular, "namespaced": resource.namespaced, "group": resource.group,
            "version": resource.version, "kind": resource.kind, "verbs": list(resource.verbs), "shortNames": list(resource.short_names),
            "categories": list(resource.categories),
        }  # fmt: skip
        resources.append({key: value for key, value in entry.items() if value not in ("", [])})
    value = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "", "resources": resources}
    printers.structured(context, context.flags.output, printers.FORMATS, typed=True)(value)
