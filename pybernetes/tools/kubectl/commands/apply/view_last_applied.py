"""apply view-last-applied: shows what was applied last."""

from __future__ import annotations

import json

from pybernetes.tools.kubectl.apply.last_applied import read
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, quoted
from pybernetes.tools.kubectl.resources.builder import Builder

SUMMARY = "View the latest last-applied-configuration annotations of a resource/object"
USAGE = "apply view-last-applied (TYPE [NAME | -l label] | TYPE/NAME | -f FILENAME)"
COMPLETION = "types"
FLAGS = (shared_flags.FILES, shared_flags.SELECTOR, """
- all bool false | all objects of the types in the namespace
o output string yaml | yaml or json
""")  # fmt: skip


def run(context: Context) -> None:
    """Print the annotation of each object."""
    flags = context.flags
    builder = Builder.from_flags(context, select_all=False, empty_selector=flags.all, latest=True)
    texts = []
    for info in builder.all():
        text = read(info.object)
        if text is None and info.source:
            raise CommandError(
                f"error when no last-applied-configuration annotation found on resource: {info.name}\n "
                f"{quoted(info.source)}: <nil>"
            )
        if text is None:
            break  # the original says nothing about an object that was not applied
        texts.append(text)
    for text in texts:
        value = json.loads(text)
        if flags.output == "json":
            from pybernetes.tools.kubectl.output.json import dumps

            context.out(dumps(value, indent=2, typed=True))
        elif flags.output == "yaml":
            from pybernetes.tools.kubectl.output.yaml.printer import dumps as yaml_dumps

            context.stdout.write(yaml_dumps(value))
        else:
            raise context.usage(
                f"Unexpected -o output mode: {flags.output}, the flag 'output' must be one of yaml|json"
            )
