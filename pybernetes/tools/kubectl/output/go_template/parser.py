"""From tokens to the tree of a template."""

from __future__ import annotations

import ast

from pybernetes.api.text.go_printf import GoInt
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.output.go_template.functions import FUNCTIONS
from pybernetes.tools.kubectl.output.go_template.lexer import Token, line_of, tokens
from pybernetes.tools.kubectl.output.go_template.tree import Block, Node, Place, TemplateError

if TYPE_CHECKING:
    from typing import Any


_KEYWORDS = ("block", "break", "continue", "define", "else", "end", "if", "range", "template", "with")
_FUNCTIONS = frozenset(FUNCTIONS) | {"and", "or"}


class Parser:
    """Reads one template and those that it defines."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens(text)
        self._at = 0
        self._variables: list[str] = ["$"]
        self._loops = 0
        self._depth = 0  # of lists of nodes: templates are defined outside of all others
        self.defined: dict[str, list[Node]] = {}

    def parse(self) -> list[Node]:
        """Return the tree; TemplateError if it is none."""
        nodes, ended = self._list()
        if ended:
            raise self._error(f"unexpected {{{{{ended}}}}}")
        return nodes

    def _error(self, message: str, place: int | None = None) -> TemplateError:
        if place is None:
            at = min(self._at, len(self._tokens) - 1)
            place = self._tokens[at].start if self._tokens else 0
        return TemplateError(f"{line_of(self._text, place)}: {message}")

    def _peek(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _next(self) -> Token:
        token = self._peek()
        if token is None:
            raise self._error("unexpected EOF", len(self._text))
        self._at += 1
        return token

    def _place(self, start: int, named: int | None = None) -> Place:
        """Return the place of what begins at ``start`` and has been read; errors tell of ``named`` instead."""
        end = self._tokens[self._at - 1]
        if end.text == "|":
            end = self._tokens[self._at - 2]
        stop = end.start + len(end.text)
        line = line_of(self._text, start)
        shown = start if named is None else named
        column = shown - (self._text.rfind("\n", 0, shown) + 1)
        return Place(line, column, self._text[start:stop].strip())

    def _list(self) -> tuple[list[Node], str]:
        """Return the nodes up to the end, or up to an action that ends them (end, else …), and its word."""
        nodes: list[Node] = []
        self._depth += 1
        while (token := self._peek()) is not None:
            self._at += 1
            if token.kind == "text":
                nodes.append(Node("text", token.text, self._place(token.start)))
                continue
            word = self._peek()
            if word is not None and word.kind == "word" and word.text in _KEYWORDS:
                self._at += 1
                if word.text in ("end", "else"):
                    self._depth -= 1
                    return nodes, word.text
                node = self._keyword(word)
                if node is not None:
                    nodes.append(node)
                continue
            pipe = self._pipe("close")
            nodes.append(Node("action", pipe, pipe.place))
        self._depth -= 1
        return nodes, ""

    def _keyword(self, word: Token) -> Node | None:
        match word.text:
            case "if" | "with" | "range":
                return self._block(word)
            case "define":
                if self._depth > 1:
                    raise self._error("unexpected <define> in command", word.start)
                self._define()
                return None
            case "template" | "block":
                return self._template(word)
            case _:  # break, continue
                if not self._loops:
                    raise self._error(f"{{{{{word.text}}}}} outside {{{{range}}}}", word.start)
                self._close(word.text)
                return Node(word.text, None, self._place(word.start))

    def _close(self, where: str) -> None:
        token = self._next()
        if token.kind != "close":
            raise self._error(f"unexpected {_shown(token)} in {where}", token.start)

    def _block(self, word: Token) -> Node:
        known = len(self._variables)
        pipe = self._pipe("close", word.text)
        self._loops += word.text == "range"
        body, ended = self._list()
        self._loops -= word.text == "range"
        otherwise: list[Node] = []
        if ended == "else":
            following = self._peek()
            if (
                following is not None
                and following.kind == "word"
                and following.text in ("if", "with")
                and (following.text == word.text or word.text == "if")
            ):
                self._at += 1
                otherwise = [self._block(following)]
                del self._variables[known:]
                return Node(word.text, Block(pipe, body, otherwise), pipe.place)
            self._close("else")
            otherwise, ended = self._list()
            if ended == "else":
                raise self._error("expected end; found {{else}}")
        if ended != "end":
            raise self._error("unexpected EOF", len(self._text))
        self._close("end")
        del self._variables[known:]
        return Node(word.text, Block(pipe, body, otherwise), pipe.place)

    def _name(self, where: str) -> str:
        token = self._next()
        if token.kind not in ("string", "raw"):
            raise self._error(f"unexpected {_shown(token)} in {where}", token.start)
        return _unquote(token)

    def _define(self) -> None:
        name = self._name("define clause")
        self._close("define clause")
        self._body(name, "define clause")

    def _body(self, name: str, where: str) -> None:
        kept, self._variables = self._variables, ["$"]
        body, ended = self._list()
        if ended != "end":
            raise self._error(
                f"unexpected EOF in {where}" if not ended else f"unexpected {{{{{ended}}}}} in {where}"
            )
        self._close("end")
        self._variables = kept
        if name not in self.defined or any(node.kind != "text" or node.value.strip() for node in body):
            self.defined[name] = body

    def _template(self, word: Token) -> Node:
        name = self._name(f"{word.text} clause")
        pipe = None
        token = self._peek()
        if token is not None and token.kind != "close":
            pipe = self._pipe("close")
        else:
            self._close("template clause")
        if word.text == "block":
            if pipe is None:
                raise self._error("missing value for block clause")
            self._body(name, "block clause")
        return Node("template", (name, pipe), self._place(word.start))

    def _pipe(self, closing: str, where: str = "command") -> Node:
        start = (self._peek() or self._next()).start
        variables, assigns = self._declared(where)
        commands: list[Node] = []
        while True:
            token = self._peek()
            if token is None:
                raise self._error("unexpected EOF", len(self._text))
            if (token.kind == "close" and closing == "close") or (token.text == ")" and closing == ")"):
                place = self._place(start)
                self._at += 1
                if not commands:
                    raise self._error(f"missing value for {where}")
                break
            if token.kind == "close":
                raise self._error("unclosed left paren", start)
            if token.text == ")":
                raise self._error("unexpected right paren", token.start)
            commands.append(self._command())
        for number, command in enumerate(commands[1:], 2):
            if command.value[0].kind in ("literal", "nil", "dot"):
                raise self._error(f"non executable command in pipeline stage {number}", start)
        self._variables += [] if assigns else variables
        return Node("pipe", (variables, assigns, commands), place)

    def _declared(self, where: str) -> tuple[list[str], bool]:
        first, second = self._peek(), self._tokens[self._at + 1 : self._at + 2]
        if first is None or first.kind != "variable" or not second:
            return [], False
        if second[0].kind == "declare" or second[0].text == "=":
            self._at += 2
            if second[0].text == "=" and first.text not in self._variables:
                raise self._error(f'undefined variable "{first.text}"', first.start)
            return [first.text], second[0].text == "="
        if second[0].text == "," and where == "range":
            other = self._tokens[self._at + 2 : self._at + 4]
            if (
                len(other) == 2
                and other[0].kind == "variable"
                and (other[1].kind == "declare" or other[1].text == "=")
            ):
                self._at += 4
                return [first.text, other[0].text], other[1].text == "="
        return [], False

    def _command(self) -> Node:
        start = (self._peek() or self._next()).start
        operands: list[Node] = []
        while (token := self._peek()) is not None:
            if token.text == "|" and token.kind == "sign":
                self._at += 1
                following = self._peek()
                if following is None or following.kind == "close":
                    raise self._error("missing value for command", token.start)
                break
            if token.kind == "close" or (token.kind == "sign" and token.text == ")"):
                break
            if operands and not token.space:
                raise self._error(f"unexpected {_shown(token)} in operand", token.start)
            operands.append(self._operand())
        if not operands:
            raise self._error("empty command", start)
        return Node("command", operands, self._place(start))

    def _operand(self) -> Node:
        token = self._next()
        node = self._term(token)
        names: list[str] = []
        start = token.start
        while (following := self._peek()) is not None and following.kind == "field" and not following.space:
            self._at += 1
            start = start if names else following.start
            names.append(following.text[1:])
        if not names:
            return node
        place = self._place(token.start, start)
        match node.kind:
            case "field":
                return Node("field", [*node.value, *names], place)
            case "variable":
                return Node("variable", (node.value[0], [*node.value[1], *names]), place)
            case "literal" | "nil" | "dot":
                if node.kind == "dot":
                    return Node("field", names, place)
                raise self._error(f"unexpected . after term {token.text}", token.start)
        return Node("chain", (node, names), place)

    def _term(self, token: Token) -> Node:
        place = self._place(token.start)
        match token.kind:
            case "field":
                return Node("field", [token.text[1:]], place)
            case "variable":
                if token.text not in self._variables:
                    raise self._error(f'undefined variable "{token.text}"', token.start)
                return Node("variable", (token.text, []), place)
            case "string" | "raw" | "char":
                return Node("literal", _unquote(token), place)
            case "number":
                return Node("literal", self._number(token), place)
            case "word":
                if token.text in ("true", "false"):
                    return Node("literal", token.text == "true", place)
                if token.text == "nil":
                    return Node("nil", None, place)
                if token.text not in _FUNCTIONS:
                    raise self._error(f'function "{token.text}" not defined', token.start)
                return Node("name", token.text, place)
        if token.text == ".":
            return Node("dot", None, place)
        if token.text == "(":
            return self._pipe(")", "parenthesized pipeline")
        raise self._error(f"unexpected {_shown(token)} in operand", token.start)

    def _number(self, token: Token) -> Any:
        text = token.text.replace("_", "")
        try:
            lower = text.lower()
            if "x" in lower:
                return GoInt(text, 16)
            if "." in text or "e" in lower:
                return float(text)
            sign, digits = (text[0], text[1:]) if text[0] in "+-" else ("", text)
            base = 8 if digits.isdigit() and len(digits) > 1 and digits[0] == "0" else 0
            value = int(digits, base)
            return GoInt(-value if sign == "-" else value)
        except ValueError:
            raise self._error(f'bad number syntax: "{token.text}"', token.start) from None


def _shown(token: Token) -> str:
    """Return a token as messages name it."""
    if token.kind in ("word",) and token.text in _KEYWORDS:
        return f"<{token.text}>"
    return f'"{token.text}"'


def _unquote(token: Token) -> Any:
    if token.kind == "raw":
        return token.text[1:-1]
    if token.kind == "char":
        return GoInt(ord(ast.literal_eval(token.text)))
    return ast.literal_eval(token.text.replace("\\/", "/"))
