"""Prints what a Go template makes of an object."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output.go_template.template import Template, TemplateError
from pybernetes.tools.kubectl.output.printers import Print

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


def printer(context: Context, text: str) -> Print:
    """Return a printer for a template."""
    try:
        template = Template(text, strict=not context.flags.allow_missing_template_keys)
    except TemplateError as error:
        raise CommandError(f"error parsing template {text}, template: output:{error}") from None

    def show(value: Object) -> None:
        try:
            template.run(value, context.stdout.write)
        except TemplateError as error:
            from pybernetes.api.text import go_printf
            from pybernetes.api.text.go_format import quote
            from pybernetes.tools.kubectl.output.json import dumps

            context.stdout.write(
                f"Error executing template: template: output:{error}. Printing more information for debugging the "
                f"template:\n\ttemplate was:\n\t\t{text}\n\traw data was:\n\t\t{dumps(value, indent=None)}\n"
                f"\tobject given to template engine was:\n\t\t{go_printf.plain(value)}\n\n"
            )
            raise CommandError(f"error executing template {quote(text)}: template: output:{error}") from None

    return show
