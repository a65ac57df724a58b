"""How objects are printed: one file per output format."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.files import read_text

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object

Print = Callable[[dict[str, "Any"]], None]
TEMPLATES = ("go-template", "go-template-file", "template", "templatefile")
PATHS = ("jsonpath", "jsonpath-as-json", "jsonpath-file")
FORMATS = ("json", "yaml", "kyaml", "name", *TEMPLATES, *PATHS)


def make(
    context: Context,
    operation: str = "",
    *,
    typed: bool = False,
    output: str | None = None,
    suffix: bool = True,
) -> Print:
    """Return a printer for the output format that the flags ask for; without one it prints what was done.

    ``typed`` keeps the order of fields in JSON, as of an object that is made here.
    """
    flags = context.flags
    if output is None:
        output = flags.output if flags.has("output") else ""
        if flags.has("template") and flags.template and (not output or "output" not in flags.changed):
            output = "go-template"
    if output in ("", "name"):
        from pybernetes.tools.kubectl.output.name import printer

        words = {"client": " (dry run)", "server": " (server dry run)"}.get(
            flags.dry_run if flags.has("dry-run") and flags.dry_run != "unchanged" else "", ""
        )
        return printer(context, "" if output == "name" else operation + (words if suffix else ""))
    return structured(context, output, FORMATS, typed=typed)


def structured(context: Context, output: str, allowed: tuple[str, ...], *, typed: bool = False) -> Print:
    """Return a printer for json, yaml or a template; an error that names the allowed formats for anything else."""
    flags = context.flags
    managed = flags.has("show-managed-fields") and flags.show_managed_fields
    match output:
        case "json":
            from pybernetes.tools.kubectl.output.json import printer

            return printer(context, managed, typed)
        case "yaml":
            from pybernetes.tools.kubectl.output.yaml.printer import printer as yaml_printer

            return yaml_printer(context, managed)
        case "kyaml":
            from pybernetes.tools.kubectl.output.yaml.kyaml_printer import printer as kyaml_printer

            return kyaml_printer(context, managed, typed)
    kind, _, text = output.partition("=")
    if kind in PATHS:
        from pybernetes.tools.kubectl.output.jsonpath import printer as path_printer

        return path_printer(context, kind, _template(kind, text or flags.template))
    if kind in TEMPLATES:
        from pybernetes.tools.kubectl.output.go_template.printer import printer as template_printer

        return template_printer(context, _template(kind, text or flags.template))
    raise CommandError(
        f'unable to match a printer suitable for the output format "{output}", allowed formats are: '
        + ",".join(sorted(allowed))
    )


def _template(kind: str, text: str) -> str:
    """Return the text of a template, which some formats name by its file."""
    if not text:
        raise CommandError("template format specified but no template given")
    if not kind.endswith("file"):
        return text
    return read_text(text, f"error reading --template {text}, ")


def without_managed(value: Object) -> Object:
    """Return the object, and the objects of a list, without managedFields."""
    if isinstance(value.get("items"), list):
        return {
            **value,
            "items": [without_managed(item) if isinstance(item, dict) else item for item in value["items"]],
        }
    metadata = value.get("metadata")
    if isinstance(metadata, dict) and "managedFields" in metadata:
        kept = {key: item for key, item in metadata.items() if key != "managedFields"}
        return {**value, "metadata": kept}
    return value
