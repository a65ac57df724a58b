"""rewrite [continue|stop] FIELD …: changes questions before others see them, and answers on their way back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pybernetes.node.dns import wire
from pybernetes.node.dns.corefile import CorefileError, Directive
from pybernetes.node.dns.message import Message
from pybernetes.node.dns.plugin import Controller, Plugin, Wrap
from pybernetes.node.dns.plugins.rewrite import answers
from pybernetes.node.dns.plugins.rewrite.answers import Alias, AnswerRule, Code, Names, Ttl, Values
from pybernetes.node.dns.plugins.rewrite.matching import (
    EXACT,
    KINDS,
    REGEX,
    SUFFIX,
    Matcher,
    pattern,
    plain_text,
    qualified,
)
from pybernetes.node.dns.query import Handler, Query

_LARGEST_TTL = 2**31 - 1


@dataclass(slots=True)
class Rule:
    """One line: whom it matches, what the question becomes, and what is done to the answer."""

    stops: bool = True
    matcher: Matcher | None = None  # of the name; None for any
    renames: bool = False
    auto: bool = False  # whether the answer gets the old name again
    type: tuple[int, int] | None = None
    class_: tuple[int, int] | None = None
    static: list[AnswerRule] = field(default_factory=list)

    def apply(self, query: Query) -> tuple[Query, list[AnswerRule]] | None:
        """Return the question as it becomes, and what to do to its answer; None if it does not match."""
        kind = query.question[-4:]
        if self.type is not None:
            if query.type != self.type[0]:
                return None
            return query._replace(question=query.name + self.type[1].to_bytes(2) + kind[2:]), []
        if self.class_ is not None:
            if query.class_ != self.class_[0]:
                return None
            return query._replace(question=query.name + kind[:2] + self.class_[1].to_bytes(2)), []
        if self.matcher is None:
            return query, self.static
        text = plain_text(query.name)
        changed = self.matcher.changed(text) if text is not None else None
        if text is None or changed is None:
            return None
        if not self.renames:
            return query, self.static
        changed = changed.lower()
        try:
            name = wire.name(changed)
        except ValueError:
            raise OSError(f"invalid name after rewrite: {changed[:300]}") from None
        rules = self.static
        if self.auto:
            back = answers.remap(qualified(changed), text)
            rules = [Names(back), Values(back), *rules]
        return query._replace(question=name + kind), rules


def setup(controller: Controller) -> Wrap:
    """Set up the rules of a block, in the order of its lines."""
    rules = [_rule(_words(directive)) for directive in controller.directives]

    def wrap(following: Handler) -> Handler:
        async def answer(query: Query) -> bytes:
            changed, back = query, list[AnswerRule]()
            for rule in rules:
                applied = rule.apply(changed)
                if applied is None:
                    continue
                changed = applied[0]
                back += applied[1]
                if rule.stops:
                    break
            if changed is query and not back:
                return await following(query)
            message = Message.read(await following(changed))
            try:
                for answer_rule in reversed(back):
                    await answer_rule.change(message, changed, following)
            except ValueError as error:
                raise OSError(f"invalid name after rewrite: {error}") from None
            message.question = query.question
            return message.encode()

        return answer

    return wrap


def _words(directive: Directive) -> list[str]:
    """Return the words of a rule, which may stand in braces: the name first, then what is done to the answer."""
    words = list(directive.arguments)
    for line in directive.inner:
        words += line.words
    return words


def _rule(words: list[str]) -> Rule:
    if not words:
        raise CorefileError("no rule type specified for rewrite")
    rule = Rule()
    if words[0].lower() in ("continue", "stop"):
        rule.stops = words[0].lower() == "stop"
        if len(words) < 2:
            raise CorefileError(f"{words[0].lower()} rule must begin with a rule type")
        words = words[1:]
    kind, arguments = words[0].lower(), words[1:]
    if kind == "answer":
        raise CorefileError("response rewrites must begin with a name rule")
    if kind == "edns0":
        raise CorefileError("edns0 rules are not built in here")
    if kind not in _RULES:
        raise CorefileError(f'invalid rule type "{words[0]}"')
    _RULES[kind](rule, arguments)
    return rule


def _name(rule: Rule, arguments: list[str]) -> None:
    if len(arguments) < 2:
        raise CorefileError("too few arguments for a name rule")
    kind = EXACT if len(arguments) == 2 else arguments.pop(0).lower()
    if kind not in KINDS:
        raise CorefileError(
            f"name rule supports only exact, prefix, suffix, substring, and regex name matching, received: {kind}"
        )
    from_ = arguments[0] if kind == REGEX else qualified(arguments[0])
    to = qualified(arguments[1])
    rule.renames = True
    rule.matcher = Matcher.of(kind, from_, to)
    rest = arguments[2:]
    auto, rule.static = _answers(kind, rest) if rest else (False, [])
    if kind == EXACT:
        rule.auto = True
    elif kind == SUFFIX and auto:
        back = answers.suffix(to, from_)
        rule.static = [Names(back), Values(back), *rule.static]
    else:
        rule.auto = auto


def _answers(kind: str, words: list[str]) -> tuple[bool, list[AnswerRule]]:
    """Return whether names are put back, and what else is done to the answer."""
    if len(words) < 2:
        raise CorefileError(f"invalid arguments for {kind} rule")
    if words[0] != "answer":
        raise CorefileError(
            f"exceeded the number of arguments for a non-answer rule argument for {kind} rule"
        )
    auto, rules, named = False, list[AnswerRule](), False
    words = list(words)
    while words:
        if words[0] == "answer":
            words.pop(0)
            if not words:
                raise CorefileError(f"type missing for answer rule for {kind} rule")
        what = words.pop(0)
        if what == "auto" or (what == "name" and words[:1] == ["auto"]):
            if what == "name":
                words.pop(0)
            auto = True
            continue
        if what not in ("name", "value"):
            raise CorefileError(f'invalid type "{what}" for answer rule for {kind} rule')
        if len(words) < 2:
            raise CorefileError(f"{what} answer rule for {kind} rule: 2 arguments required")
        from_, to = words.pop(0), words.pop(0)
        try:
            rename = answers.by_expression(Matcher.of(REGEX, from_, to).expression, qualified(to))
        except CorefileError as error:
            raise CorefileError(f"{what} answer rule for {kind} rule: {error}") from None
        rules.append(Names(rename) if what == "name" else Values(rename))
        named = named or what == "name"
    if auto and named:
        raise CorefileError("auto name answer rule cannot be combined with explicit name anwer rules")
    return auto, rules


def _matched(rule: Rule, kind: str, arguments: list[str], more: int) -> list[str]:
    """Take what a rule for answers matches, and return its other arguments."""
    if len(arguments) < more + 1:
        raise CorefileError(f"too few arguments for a {kind} rule")
    how = EXACT if len(arguments) == more + 1 else arguments.pop(0).lower()
    if how not in KINDS:
        raise CorefileError(
            f"{kind} rule supports only exact, prefix, suffix, substring, and regex name matching"
        )
    if len(arguments) > more + 1:
        raise CorefileError(f"many few arguments for a {kind} rule")
    text = arguments.pop(0)
    if how == REGEX:
        rule.matcher = Matcher(how, text, "", pattern(text, kind))
    else:
        rule.matcher = Matcher(how, qualified(text))
    return arguments


def _ttl(rule: Rule, arguments: list[str]) -> None:
    (text,) = _matched(rule, "ttl", arguments, 1)
    least, dash, most = text.partition("-")
    try:
        low = int(least or 0)
        high = int(most) if most else (_LARGEST_TTL if dash else low)
        if not 0 <= low <= high <= _LARGEST_TTL:
            raise ValueError
    except ValueError:
        raise CorefileError(f"invalid TTL '{text}' for a ttl rule") from None
    rule.static = [Ttl(low, high)]


def _code(text: str) -> int:
    if text.upper() in wire.RCODES:
        return wire.RCODES.index(text.upper())
    if text.isascii() and text.isdigit() and int(text) < 16:
        return int(text)
    raise CorefileError(f"invalid rcode: {text}")


def _rcode(rule: Rule, arguments: list[str]) -> None:
    from_, to = _matched(rule, "rcode", arguments, 2)
    rule.static = [Code(_code(from_), _code(to))]


def _cname(rule: Rule, arguments: list[str]) -> None:
    if len(arguments) not in (2, 3):
        raise CorefileError(f"too few ({len(arguments)}) arguments for a cname rule")
    kind = arguments.pop(0).lower() if len(arguments) == 3 else EXACT
    if kind not in KINDS:
        raise CorefileError(f"unknown cname rewrite type: {kind}")
    from_, to = (text.lower() for text in arguments)
    if kind == EXACT:
        from_, to = qualified(from_), qualified(to)
    rule.static = [Alias(Matcher.of(kind, from_, to, "cname"))]


def _numbers(kind: str, names: dict[int, str], arguments: list[str]) -> tuple[int, int]:
    if len(arguments) != 2:
        raise CorefileError(f"{kind} rules must have exactly two arguments")
    by_name = {name: number for number, name in names.items()}
    for text in arguments:
        if text.upper() not in by_name:
            raise CorefileError(f"invalid {kind} {text}")
    return by_name[arguments[0].upper()], by_name[arguments[1].upper()]


def _type(rule: Rule, arguments: list[str]) -> None:
    rule.type = _numbers("type", wire.TYPES, arguments)


def _class(rule: Rule, arguments: list[str]) -> None:
    rule.class_ = _numbers("class", wire.CLASSES, arguments)


_RULES: dict[str, Callable[[Rule, list[str]], None]] = {
    "name": _name, "ttl": _ttl, "rcode": _rcode, "cname": _cname, "type": _type, "class": _class,
}  # fmt: skip
PLUGIN = Plugin(setup)
