"""config get-contexts."""

from __future__ import annotations

from pybernetes.tools.kubectl.config_changes import entries
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, raise_all
from pybernetes.tools.kubectl.output.table import columns

SUMMARY = "Describe one or many contexts"
USAGE = "config get-contexts [(-o|--output=)name)]"
FLAGS = ("""
- no-headers bool false | leave the headings out
o output string | name
""",)  # fmt: skip


def run(context: Context) -> None:
    """Print a line for each context."""
    flags = context.flags
    if flags.output not in ("", "name"):
        raise CommandError(
            f"--output {flags.output} is not available in kubectl config get-contexts; resetting to default output format"
        )
    known = entries(context, "contexts")
    names = sorted(context.args or known)
    errors = [CommandError(f"context {name} not found") for name in names if name not in known]
    names = [name for name in names if name in known]
    if flags.output == "name":
        for name in names:
            context.out(name)
    else:
        current = context.config.get("current-context") or ""
        rows = [] if flags.no_headers else [["CURRENT", "NAME", "CLUSTER", "AUTHINFO", "NAMESPACE"]]
        for name in names:
            value = known[name]
            mark = "*" if name == current else ""
            rows.append([mark, name, *(value.get(key) or "" for key in ("cluster", "user", "namespace"))])
        context.stdout.write(columns(rows))
    raise_all(errors)
