"""Turn the text of an expression into a tree: the lexer and the parser."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pybernetes.api.cel.runtime import Uint
from pybernetes.api.cel.tree import (
    Call,
    Expr,
    Ident,
    Invalid,
    Issue,
    ListExpr,
    Literal,
    MapExpr,
    Select,
    StructExpr,
    qualified,
)

_LONGEST = 100_000
_DEEPEST = 50
RESERVED = frozenset({
    "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package",
    "namespace", "return", "var", "void", "while",
})  # fmt: skip


_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n\f]+|//[^\n]*)
    |(?P<string>[rR]?[bB]?[rR]?(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''|"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*'))
    |(?P<raw>[rR][bB]?(?:\"\"\".*?\"\"\"|'''.*?'''|"[^"\n\r]*"|'[^'\n\r]*'))
    |(?P<float>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)
    |(?P<int>0x[0-9a-fA-F]+[uU]?|\d+[uU]?)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<quoted>`[A-Za-z0-9_./ -]+`)
    |(?P<op>&&|\|\||<=|>=|==|!=|[-+*/%!<>?:.,()\[\]{}=])""",
    re.VERBOSE | re.DOTALL,
)
_RAW = re.compile(r"[rR][bB]?(?:\"\"\".*?\"\"\"|'''.*?'''|\"[^\"\n\r]*\"|'[^'\n\r]*')", re.DOTALL)


@dataclass(slots=True)
class Token:
    kind: str
    text: str
    at: int


def _tokens(source: str) -> Iterator[Token]:
    at = 0
    while at < len(source):
        # A raw string has no escapes.
        match = _RAW.match(source, at) or _TOKEN.match(source, at)
        if match is None:
            raise Invalid(source, [Issue(at, f"Syntax error: token recognition error at: '{source[at]}'")])
        kind = match.lastgroup or "raw"
        if kind != "space":
            yield Token("string" if kind == "raw" else kind, match[0], at)
        at = match.end()
    yield Token("end", "<EOF>", at)


# Expands a call of a macro, or returns None if it is none: the parser, the target, the arguments, the position.
Expand = Callable[["Parser", "Expr | None", "list[Expr]", int], "Expr | None"]


class Parser:
    """Turns text into a tree; Invalid if it is no expression."""

    def __init__(self, source: str, macros: dict[tuple[str, bool], Expand]) -> None:
        self.source, self.macros = source, macros
        if len(source) > _LONGEST:
            raise Invalid(
                "",
                [
                    Issue(
                        0, f"expression code point size exceeds limit: size: {len(source)}, limit {_LONGEST}"
                    )
                ],
            )
        self._tokens = list(_tokens(source))
        self._next = 0
        self._depth = 0
        self.issues: list[Issue] = []

    def parse(self) -> Expr:
        """Return the whole expression."""
        expression = self._expression()
        token = self._peek()
        if token.kind != "end":
            raise self._unexpected(token)
        if self.issues:
            raise Invalid(self.source, self.issues)
        return expression

    def complain(self, at: int, text: str) -> None:
        """Note a complaint of a macro."""
        self.issues.append(Issue(at, text))

    # -- tokens --------------------------------------------------------------------------------------------

    def _peek(self) -> Token:
        return self._tokens[self._next]

    def _take(self) -> Token:
        token = self._tokens[self._next]
        self._next += 1
        return token

    def _accept(self, *texts: str) -> Token | None:
        token = self._peek()
        if token.kind == "op" and token.text in texts:
            return self._take()
        return None

    def _expect(self, text: str) -> Token:
        token = self._accept(text)
        if token is None:
            raise self._unexpected(self._peek(), text)
        return token

    def _unexpected(self, token: Token, wanted: str = "") -> Invalid:
        if wanted:
            text = f"Syntax error: mismatched input '{token.text}' expecting '{wanted}'"
        elif token.kind == "end":
            text = "Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"
        else:
            text = f"Syntax error: extraneous input '{token.text}' expecting <EOF>"
        return Invalid(self.source, [*self.issues, Issue(token.at, text)])

    # -- levels of precedence, the weakest first ---------------------------------------------------------------

    def _expression(self) -> Expr:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Invalid(self.source, [Issue(self._peek().at, "expression recursion limit exceeded: 250")])
        condition = self._or()
        token = self._accept("?")
        if token is not None:
            then = self._or()
            self._expect(":")
            condition = Call(token.at, "_?_:_", None, [condition, then, self._expression()])
        self._depth -= 1
        return condition

    def _left(self, below: Callable[[], Expr], *texts: str) -> Expr:
        expression = below()
        while token := self._accept(*texts):
            expression = Call(token.at, f"_{token.text}_", None, [expression, below()])
        return expression

    def _balanced(self, below: Callable[[], Expr], text: str) -> Expr:
        """Read the operands of an operator whose grouping means nothing, so that long chains make no deep tree."""
        operands, places = [below()], []
        while token := self._accept(text):
            places.append(token.at)
            operands.append(below())
        return _tree(f"_{text}_", operands, places, 0, len(operands))

    def _or(self) -> Expr:
        return self._balanced(self._and, "||")

    def _and(self) -> Expr:
        return self._balanced(self._relation, "&&")

    def _relation(self) -> Expr:
        expression = self._sum()
        while True:
            token = self._peek()
            if token.kind == "name" and token.text == "in":
                self._take()
                expression = Call(token.at, "@in", None, [expression, self._sum()])
            elif token.kind == "op" and token.text in ("<", "<=", ">", ">=", "==", "!="):
                self._take()
                expression = Call(token.at, f"_{token.text}_", None, [expression, self._sum()])
            else:
                return expression

    def _sum(self) -> Expr:
        return self._left(self._product, "+", "-")

    def _product(self) -> Expr:
        return self._left(self._unary, "*", "/", "%")

    def _unary(self) -> Expr:
        token = self._accept("!", "-")
        if token is None:
            return self._member()
        count = 1
        while self._accept(token.text):
            count += 1
        follows = self._peek()
        if token.text == "-" and count == 1 and follows.kind in ("int", "float"):
            return self._members(self._number(self._take(), -1, token.at))
        operand = self._member()
        if count % 2 == 0:
            return operand
        return Call(token.at, f"{token.text}_", None, [operand])

    def _member(self) -> Expr:
        return self._members(self._primary())

    def _members(self, expression: Expr) -> Expr:
        while True:
            if token := self._accept("."):
                optional = self._accept("?") is not None
                name = self._field()
                if not optional and (opening := self._accept("(")):
                    expression = self._call(name, expression, opening.at)
                elif optional:
                    expression = Call(token.at, "_?._", None, [expression, Literal(self._peek().at, name)])
                else:
                    expression = Select(token.at, expression, name)
            elif token := self._accept("["):
                optional = self._accept("?") is not None
                index = self._expression()
                self._expect("]")
                expression = Call(token.at, "_[?_]" if optional else "_[_]", None, [expression, index])
            elif self._peek().text == "{" and self._peek().kind == "op" and qualified(expression):
                expression = self._struct(qualified(expression), self._take().at)
            else:
                return expression

    def _field(self) -> str:
        token = self._take()
        if token.kind == "quoted":
            return token.text[1:-1]
        if token.kind != "name" or token.text in ("in", "true", "false", "null"):
            raise self._unexpected(token, "IDENTIFIER")
        return token.text

    def _arguments(self, closing: str) -> list[Expr]:
        arguments: list[Expr] = []
        while not self._accept(closing):
            arguments.append(self._expression())
            if not self._accept(","):
                self._expect(closing)
                break
        return arguments

    def _call(self, name: str, target: Expr | None, at: int) -> Expr:
        args = self._arguments(")")
        expand = self.macros.get((name, target is not None))
        if expand is not None:
            expanded = expand(self, target, args, at)
            if expanded is not None:
                return expanded
        return Call(at, name, target, args)

    def _primary(self) -> Expr:
        token = self._take()
        if token.kind in ("int", "float"):
            return self._number(token, 1, token.at)
        if token.kind == "string":
            return Literal(token.at, self._string(token))
        if token.kind == "op" and token.text == "(":
            expression = self._expression()
            self._expect(")")
            return expression
        if token.kind == "op" and token.text == "[":
            return self._list(token.at)
        if token.kind == "op" and token.text == "{":
            return self._map(token.at)
        leading = token.kind == "op" and token.text == "."
        if leading:
            token = self._take()
        if token.kind != "name":
            raise self._unexpected(token)
        if token.text in ("true", "false", "null"):
            return Literal(token.at, {"true": True, "false": False, "null": None}[token.text])
        if opening := self._accept("("):
            return self._call(token.text, None, opening.at)
        if token.text in RESERVED or token.text == "in":
            raise Invalid(self.source, [Issue(token.at, f"reserved identifier: {token.text}")])
        return Ident(token.at, token.text)

    def _list(self, at: int) -> Expr:
        items: list[Expr] = []
        optional: set[int] = set()
        while not self._accept("]"):
            if self._accept("?"):
                optional.add(len(items))
            items.append(self._expression())
            if not self._accept(","):
                self._expect("]")
                break
        return ListExpr(at, items, frozenset(optional))

    def _map(self, at: int) -> Expr:
        entries: list[tuple[Expr, Expr, bool]] = []
        while not self._accept("}"):
            optional = self._accept("?") is not None
            key = self._expression()
            self._expect(":")
            entries.append((key, self._expression(), optional))
            if not self._accept(","):
                self._expect("}")
                break
        return MapExpr(at, entries)

    def _struct(self, name: str, at: int) -> Expr:
        fields: list[tuple[str, Expr, bool, int]] = []
        while not self._accept("}"):
            optional = self._accept("?") is not None
            place = self._peek().at
            field_name = self._field()
            self._expect(":")
            fields.append((field_name, self._expression(), optional, place))
            if not self._accept(","):
                self._expect("}")
                break
        return StructExpr(at, name, fields)

    # -- literals --------------------------------------------------------------------------------------------

    def _number(self, token: Token, sign: int, at: int) -> Expr:
        text = token.text
        if token.kind == "float":
            return Literal(at, sign * float(text))
        unsigned = text[-1] in "uU"
        digits = text.rstrip("uU")
        value = sign * (int(digits, 16) if digits.lower().startswith("0x") else int(digits))
        if unsigned:
            if not 0 <= value < 2**64:
                raise Invalid(self.source, [Issue(at, "invalid uint literal")])
            return Literal(at, Uint(value))
        if not -(2**63) <= value < 2**63:
            raise Invalid(self.source, [Issue(at, "invalid int literal")])
        return Literal(at, value)

    def _string(self, token: Token) -> str | bytes:
        text = token.text
        prefix = re.match(r"[rRbB]*", text)[0].lower()  # type: ignore[index]
        text = text[len(prefix) :]
        width = 3 if text[:3] in ('"""', "'''") and len(text) >= 6 else 1
        body = text[width:-width]
        is_bytes = "b" in prefix
        if "r" not in prefix:
            try:
                body = _unescaped(body, is_bytes)
            except ValueError:
                raise Invalid(
                    self.source,
                    [Issue(token.at, f"Syntax error: token recognition error at: '{token.text}'")],
                ) from None
        elif is_bytes:
            return body.encode()
        if is_bytes:
            return b"".join(
                bytes([ord(char) & 0xFF]) if ord(char) >= 0xE000 and ord(char) < 0xE100 else char.encode()
                for char in body
            )
        return body


def _tree(function: str, operands: list[Expr], places: list[int], start: int, end: int) -> Expr:
    if end - start == 1:
        return operands[start]
    middle = (start + end + 1) // 2
    left, right = (
        _tree(function, operands, places, start, middle),
        _tree(function, operands, places, middle, end),
    )
    return Call(places[middle - 1], function, None, [left, right])


_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", "?": "?", '"': '"', "'": "'", "`": "`"}  # fmt: skip
_ESCAPE = re.compile(
    r"\\(?:([abfnrtv\\?\"'`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))",
    re.DOTALL,
)


def _unescaped(body: str, is_bytes: bool) -> str:
    def one(match: re.Match[str]) -> str:
        simple, hexadecimal, short, long, octal, other = match.groups()
        if simple:
            return _ESCAPES[simple]
        if other:
            raise ValueError(other)
        number = int(hexadecimal or short or long or octal, 8 if octal else 16)
        # Bytes that are written as numbers are kept apart from characters until the end.
        return chr(0xE000 + number) if is_bytes and (hexadecimal or octal) else chr(number)

    return _ESCAPE.sub(one, body)
