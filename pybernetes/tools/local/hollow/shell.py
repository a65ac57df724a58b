"""A shell that runs nothing: it tells how a script would end, as long as it only waits, compares and exits.

Understood are ``sleep``, ``exit``, ``true``, ``false``, ``echo``, ``if … then … else … fi`` with ``[ a -eq b ]`` and the
like, ``&&``, variables, ``$(expr a % b)`` and ``$((a % b))``. Anything else in a script makes it run for good, and so does
more than a script of that sort would be: whoever makes a pod writes it, and this process serves others too.
"""

from __future__ import annotations

import operator
import re
import shlex
from collections import deque
from collections.abc import Callable, Mapping

_SLEEP = re.compile(r"sleep (\d{1,9}(?:\.\d{1,9})?)([smhd]?)\Z")
_EXIT = re.compile(r"exit(?: (-?\d{1,9}))?\Z")
_TEST = re.compile(r"\[\[? (.+) \]?\]\Z")
_VARIABLE = re.compile(r"\$\{(\w+)\}|\$(\w+)")
_ARITHMETIC = re.compile(r"\$\(expr ([^()$]+)\)|\$\(\(([^()$]+)\)\)")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_KEYWORDS = ("if", "then", "else", "fi")
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "-eq": operator.eq, "-ne": operator.ne, "-lt": operator.lt, "-le": operator.le, "-gt": operator.gt, "-ge": operator.ge,
}  # fmt: skip
_ARITHMETIC_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv, "%": operator.mod,
}  # fmt: skip
# How long a script may be, what its variables stand for, and what it prints, in characters; and how deep it may be nested.
MOST_TEXT, MOST_DEPTH = 1 << 14, 20


class Unknown(Exception):
    """The script does something that we cannot foresee."""


class _Exited(Exception):
    """The script has ended."""


class Script:
    """One run of a script: after it, ``seconds`` have passed, ``output`` is printed and ``code`` is the exit code."""

    def __init__(self, text: str, variables: Mapping[str, str]) -> None:
        self.seconds, self.code, self.output = 0.0, 0, ""
        self._variables = variables
        if len(text) > MOST_TEXT:
            raise Unknown("a script that is too long")
        words = (word for part in re.split(r"[;\n]", text) for word in _keyworded(part.strip()) if word)
        self._rest = deque(words)
        self._filled = self._depth = 0
        try:
            self._block(())
            if self._rest:
                raise Unknown(self._rest[0])
        except _Exited:
            pass

    def _block(self, ends: tuple[str, ...], live: bool = True) -> None:
        """Run statements up to a keyword, or skip them."""
        while self._rest and self._rest[0] not in ends:
            statement = self._rest.popleft()
            if statement == "if":
                self._choice(live)
            elif statement in _KEYWORDS:
                raise Unknown(statement)
            elif live:
                self._chain(statement)

    def _choice(self, live: bool) -> None:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise Unknown("if")
        self._block(("then",), live)
        self._expect("then")
        chosen = live and self.code == 0
        self._block(("else", "fi"), chosen)
        if self._rest and self._rest[0] == "else":
            self._rest.popleft()
            self._block(("fi",), live and not chosen)
        self._expect("fi")
        self._depth -= 1

    def _expect(self, word: str) -> None:
        if not self._rest or self._rest[0] != word:
            raise Unknown(word)
        self._rest.popleft()

    def _chain(self, statement: str) -> None:
        for part in statement.split("&&"):
            self._simple(" ".join(self._filled_in(part).split()))
            if self.code:
                return

    def _simple(self, statement: str) -> None:
        if not statement or statement.startswith("#"):
            self.code = 0
        elif statement == "echo" or statement.startswith("echo "):
            self.output += _printed(statement) + "\n"
            self.code = 0
        elif match := _SLEEP.match(statement):
            self.seconds += float(match[1]) * _UNITS[match[2]]
            self.code = 0
        elif match := _EXIT.match(statement):
            self.code = int(match[1] if match[1] else self.code) & 255
            raise _Exited
        elif statement.removeprefix("/bin/") in ("true", "false", ":"):
            self.code = int(statement.endswith("false"))
        elif match := _TEST.match(statement):
            self.code = int(not _holds(match[1].split()))
        else:
            raise Unknown(statement)

    def _filled_in(self, text: str) -> str:
        def value(match: re.Match[str]) -> str:
            name = match[1] or match[2]
            if name not in self._variables:
                raise Unknown(f"${name}")
            text = self._variables[name]
            self._filled += len(text)
            if self._filled > MOST_TEXT:
                raise Unknown(f"${name}")
            return text

        text = _VARIABLE.sub(value, text)
        text = _ARITHMETIC.sub(lambda match: str(_calculate((match[1] or match[2]).split())), text)
        if "$" in text or "`" in text or "|" in text:
            raise Unknown(text)
        return text


def _printed(statement: str) -> str:
    """Return what an echo prints; as it stands if its quotes are not those of a shell."""
    try:
        return " ".join(shlex.split(statement)[1:])
    except ValueError:
        return statement[5:]


def _keyworded(part: str) -> list[str]:
    """Return a part of a script with the keywords that it begins with on their own."""
    keywords: list[str] = []
    while (first := part.partition(" ")[0]) in _KEYWORDS and len(keywords) <= MOST_DEPTH:
        keywords.append(first)
        part = part.partition(" ")[2].strip()
    return [*keywords, part]


def _holds(words: list[str]) -> bool:
    match words:
        case [left, ("=" | "=="), right]:
            return left.strip("\"'") == right.strip("\"'")
        case [left, "!=", right]:
            return left.strip("\"'") != right.strip("\"'")
        case [left, comparison, right] if comparison in _COMPARISONS:
            return _COMPARISONS[comparison](_number(left), _number(right))
    raise Unknown(" ".join(words))


def _calculate(words: list[str]) -> int:
    if len(words) != 3 or words[1].strip("\\") not in _ARITHMETIC_OPERATORS:
        raise Unknown(" ".join(words))
    left, right = _number(words[0]), _number(words[2])
    if not right and words[1] in ("/", "%"):
        raise Unknown("division by zero")
    return _ARITHMETIC_OPERATORS[words[1].strip("\\")](left, right)


def _number(word: str) -> int:
    try:
        return int(word.strip("\"'"))
    except ValueError:
        raise Unknown(word) from None
