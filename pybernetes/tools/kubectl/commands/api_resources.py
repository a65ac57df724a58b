"""api-resources: lists the resource types that the server has."""

from __future__ import annotations

from typing import Any

from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.printers.table import columns
from pybernetes.tools.kubectl.resources.discovery import Resource

SUMMARY = "Print the supported API resources on the server"
USAGE = "api-resources"
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
    """Prints a line for each resource type."""
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
    found = context.discovery.resources() if flags.cached else context.discovery.refresh()
    chosen = sorted((each for each in found if _wanted(flags, each)), key=_order(flags.sort_by))
    if flags.output in ("json", "yaml", "kyaml"):
        _structured(context, chosen)
        return
    if flags.output == "name":
        for each in chosen:
            context.out(each.full_name)
        return
    wide = flags.output == "wide"
    rows = []
    if not flags.no_headers:
        rows.append(
            ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"]
            + (["VERBS", "CATEGORIES"] if wide else [])
        )
    for each in chosen:
        row = [
            each.plural,
            ",".join(each.short_names),
            each.api_version,
            "true" if each.namespaced else "false",
            each.kind,
        ]
        rows.append(row + ([",".join(each.verbs), ",".join(each.categories)] if wide else []))
    context.stdout.write(columns(rows))


def _wanted(flags: Any, each: Resource) -> bool:
    given = flags.changed
    return (
        each.preferred
        and bool(each.verbs)
        and ("namespaced" not in given or flags.namespaced == each.namespaced)
        and ("api-group" not in given or flags.api_group == each.group)
        and all(verb in each.verbs for verb in flags.verbs)
        and all(name in each.categories for name in flags.categories)
    )


def _order(by: str) -> Any:
    if by == "name":
        return lambda each: each.plural
    if by == "kind":
        return lambda each: each.kind
    return lambda each: (each.group, each.plural)


def _structured(context: Context, chosen: list[Resource]) -> None:
    from pybernetes.tools.kubectl import printers

    resources = []
    for each in chosen:
        entry = {
            "name": each.plural, "singularName": each.singular, "namespaced": each.namespaced, "group": each.group,
            "version": each.version, "kind": each.kind, "verbs": list(each.verbs), "shortNames": list(each.short_names),
            "categories": list(each.categories),
        }  # fmt: skip
        resources.append({key: value for key, value in entry.items() if value not in ("", [])})
    value = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "", "resources": resources}
    printers.structured(context, context.flags.output, printers.FORMATS, typed=True)(value)
