"""Go's text/template: tokens, a tree, and its walk over a value.

``Template(text).run(value, write)``. Whole numbers of objects are int64; literals are int or float64.
"""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.output.go_template.evaluator import Run
from pybernetes.tools.kubectl.output.go_template.parser import Parser
from pybernetes.tools.kubectl.output.go_template.tree import TemplateError

if TYPE_CHECKING:
    from typing import Any


__all__ = ["Template", "TemplateError"]


class Template:
    """A template; with ``strict`` a key that a map does not have is an error."""

    def __init__(self, text: str, *, strict: bool = False) -> None:
        parser = Parser(text)
        self._root = parser.parse()
        self._defined, self._strict = parser.defined, strict

    def run(self, value: Any, write: Callable[[str], Any]) -> None:
        """Write what the template makes of a value."""
        Run(self._defined, self._strict, write).start(self._root, value)

    def text(self, value: Any) -> str:
        """Return what the template makes of a value."""
        parts: list[str] = []
        self.run(value, parts.append)
        return "".join(parts)
