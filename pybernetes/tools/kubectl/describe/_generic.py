"""Any object, field by field."""

from __future__ import annotations

from pybernetes.api.text.go_printf import plain
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


_SKIPPED = {
    ".metadata.managedFields",
    ".metadata.name",
    ".metadata.namespace",
    ".metadata.labels",
    ".metadata.annotations",
}
_ACRONYMS = {"api": "API", "url": "URL", "uid": "UID", "osb": "OSB", "guid": "GUID"}


def describe(writer: Writer, value: Object) -> None:
    """Write every field."""
    writer.name(value)
    writer.marks(value)
    _fields(writer, value, 0, "")
    writer.events()


def _fields(writer: Writer, value: Object, level: int, path: str) -> None:
    for key in sorted(value):
        item, where = value[key], f"{path}.{key}"
        if where in _SKIPPED:
            continue
        if isinstance(item, dict):
            writer.line(f"{label(key)}:", level)
            _fields(writer, item, level + 1, where)
        elif isinstance(item, list):
            writer.line(f"{label(key)}:", level)
            for child in item:
                if isinstance(child, dict):
                    _fields(writer, child, level + 1, where)
                else:
                    writer.line(plain(child), level + 1)
        else:
            writer.line(f"{label(key)}:\t{plain(item)}", level)


def label(field: str) -> str:
    """Return the name of a field in words: apiVersion becomes API Version."""
    if any(not (char.isalpha() or char == "-") for char in field):
        return field
    return " ".join(_ACRONYMS.get(word.lower(), word[:1].upper() + word[1:]) for word in _split(field))


def _split(word: str) -> list[str]:
    """Return the words of a name in camel case; several capitals in a row belong together."""
    runs: list[str] = []
    for char in word:
        kind = "-" if char == "-" else "U" if char.isupper() else "L"
        if runs and runs[-1][0] == kind:
            runs[-1] += char
        else:
            runs.append(kind + char)
    parts = [run[1:] for run in runs]
    for place in range(len(runs) - 1):
        if runs[place + 1] == "Ls" and len(runs[place]) > 2:  # the plural of an acronym
            parts[place] += parts[place + 1]
            parts[place + 1] = ""
        elif runs[place][0] == "U" and runs[place + 1][0] == "L":
            parts[place + 1] = parts[place][-1] + parts[place + 1]
            parts[place] = parts[place][:-1]
    return [part for part in parts if part]
