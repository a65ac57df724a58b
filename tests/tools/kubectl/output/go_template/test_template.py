"""Go templates: what they print, and what they complain about."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.tools.kubectl.output.go_template.template import Template, TemplateError

DATA: dict[str, Any] = {
    "name": "web",
    "count": 3.0,
    "whole": 3,
    "big": 1e21,
    "half": 0.5,
    "on": True,
    "empty": [],
    "nothing": None,
    "list": ["a", "b", "c"],
    "map": {"b": "2", "a": "1"},
    "deep": {"er": {"still": "here"}},
    "text": "<a href='x'>&\"",
    "secret": "aGVsbG8=",
}
PRINTED = [
    ("plain", "plain"),
    ("{{.name}}", "web"),
    ("{{ .name }} {{.count}} {{.big}} {{.half}} {{.on}}", "web 3 1e+21 0.5 true"),
    ("{{.missing}}", "<no value>"),
    ("{{.missing.deeper}}", "<no value>"),
    ("{{.list}} {{.map}}", "[a b c] map[a:1 b:2]"),
    ("{{.deep.er.still}}", "here"),
    ("{{(.deep.er).still}}", "here"),
    ("a {{- .name -}} b", "awebb"),
    ("a {{/* no */}} b", "a  b"),
    ("a {{- /* no */ -}} b", "ab"),
    ("{{range .list}}[{{.}}]{{end}}", "[a][b][c]"),
    ("{{range $i, $v := .list}}{{$i}}{{$v}} {{end}}", "0a 1b 2c "),
    ("{{range $v := .map}}{{$v}}{{end}}", "12"),
    ("{{range $k, $v := .map}}{{$k}}={{$v}};{{end}}", "a=1;b=2;"),
    ("{{range .empty}}x{{else}}none{{end}}", "none"),
    ("{{range .missing}}x{{else}}none{{end}}", "none"),
    ("{{range 3}}{{.}}{{end}}", "012"),
    ("{{range .list}}{{if eq . \"b\"}}{{continue}}{{end}}{{.}}{{end}}", "ac"),
    ("{{range .list}}{{if eq . \"b\"}}{{break}}{{end}}{{.}}{{end}}", "a"),
    ("{{if .on}}yes{{else}}no{{end}}", "yes"),
    ("{{if .empty}}yes{{else if .name}}other{{else}}no{{end}}", "other"),
    ("{{with .deep}}{{.er}}{{end}}", "map[still:here]"),
    ("{{with .missing}}x{{else}}no{{end}}", "no"),
    ("{{with .missing}}x{{else with .name}}{{.}}{{end}}", "web"),
    ("{{with $x := .name}}{{$x}}{{$.count}}{{end}}", "web3"),
    ("{{$x := 1}}{{$x = 2}}{{$x}}", "2"),
    ("{{$x := 1}}{{range .list}}{{$x = .}}{{end}}{{$x}}", "c"),
    ("{{define \"t\"}}<{{.}}>{{end}}{{template \"t\" .name}}", "<web>"),
    ("{{block \"t\" .name}}[{{.}}]{{end}}", "[web]"),
    ("{{len .list}} {{len .name}} {{len .map}}", "3 3 2"),
    ("{{index .list 1}} {{index .map \"a\"}} {{index .deep \"er\" \"still\"}}", "b 1 here"),
    ("{{slice .name 1}} {{slice .name 0 2}}", "eb we"),
    ("{{print 1 2 \"a\" \"b\" 3}}", "1 2ab3"),
    ("{{println .name 1}}", "web 1\n"),
    ("{{printf \"%s|%5s|%-5s|%05d|%q|%v|%%\" .name .name .name 42 .name .list}}", 'web|  web|web  |00042|"web"|[a b c]|%'),
    ("{{printf \"%d\" .count}}", "%!d(float64=3)"),
    ("{{printf \"%03d %T %T %T\" .whole .whole 1 (len .list)}} {{gt .whole 2}}", "003 int64 int int true"),
    ("{{index .list 1}}{{range .whole}}{{.}}{{end}}", "b012"),
    ("{{js .missing 1}}|{{print .missing}}", "\\u003Cno value\\u003E1|<nil>"),
    ("{{printf \"%.2f %t %T\" .half .on .name}}", "0.50 true string"),
    ("{{range 2}}{{printf \"%T\" .}}{{end}} {{range .whole}}{{printf \"%T\" .}}{{break}}{{end}}", "intint int64"),
    ("{{printf \"%d %s\" 1}}", "1 %!s(MISSING)"),
    ("{{printf \"x\" 1}}", "x%!(EXTRA int=1)"),
    ("{{.text | html}}", "&lt;a href=&#39;x&#39;&gt;&amp;&#34;"),
    ("{{.text | js}}", "\\u003Ca href\\u003D\\'x\\'\\u003E\\u0026\\\""),
    ("{{\"a b&c\" | urlquery}}", "a+b%26c"),
    ("{{.secret | base64decode}}", "hello"),
    ("{{exists . \"deep\" \"er\"}} {{exists . \"deep\" \"no\"}}", "true false"),
    ("{{and .on .name}} {{and .empty .name}} {{or .empty .name}} {{or .empty .missing}}", "web [] web <no value>"),
    ("{{not .on}} {{not .empty}}", "false true"),
    ("{{eq .name \"web\"}} {{eq .name \"a\" \"web\"}} {{ne .name \"a\"}}", "true true true"),
    ("{{lt 1 2}} {{le 2 2}} {{gt 1 2}} {{ge 2 2}} {{lt \"a\" \"b\"}}", "true true false true true"),
    ("{{1}} {{-2}} {{0x10}} {{1.5}} {{'a'}} {{true}} {{\"q\\n\"}}{{`r\\n`}}", "1 -2 16 1.5 97 true q\nr\\n"),
    ("{{.name | printf \"%s-%s\" \"a\"}}", "a-web"),
    ("{{(index .list 0) | printf \"%s\"}}", "a"),
    ("{{$.name}}", "web"),
    ("{{if and (eq .name \"web\") (gt .count 2.0)}}both{{end}}", "both"),
    ("{{/* a }} b */}}", ""),
]  # fmt: skip
UNREADABLE = [
    ("{{.name", "1: unclosed action"),
    ("{{foo}}", '1: function "foo" not defined'),
    ("{{if .x}}", "1: unexpected EOF"),
    ('{{if .x}}{{define "a"}}{{end}}{{end}}', "1: unexpected <define> in command"),
    ("{{end}}", "1: unexpected {{end}}"),
    ("{{$x}}", '1: undefined variable "$x"'),
    ("\n{{}}", "2: missing value for command"),
    ("{{break}}", "1: {{break}} outside {{range}}"),
    ('{{"a}}', "1: unterminated quoted string"),
    ("{{.a | 3}}", "1: non executable command in pipeline stage 2"),
    ("{{/* a", "1: unclosed comment"),
]
FAILING = [
    ("{{index .list 9}}", 'error calling index: index out of range: 9'),
    ("{{len 3}}", "error calling len: len of type int"),
    ("{{eq .count 3}}", "at <eq .count 3>: error calling eq: incompatible types for comparison: float64 and int"),
    ("{{eq .whole .list | print}}", "at <eq .whole .list>: error calling eq: incompatible types for comparison: int64 and []interface {}"),
    ("{{lt .on true}}", "error calling lt: invalid type for comparison"),
    ("{{gt .name.x}}", '1:2: executing "output" at <gt>: wrong number of args for gt: want 2 got 1'),
    ("{{base64decode .whole}}", '1:15: executing "output" at <.whole>: wrong type for value; expected string; got int64'),
    ("{{.whole | base64decode}}", "at <base64decode>: wrong type for value; expected string; got int64"),
    ("{{base64decode 3}}", "at <3>: expected string; found 3"),
    ("{{base64decode nil}}", "at <nil>: cannot assign nil to string"),
    ("{{range $i, $v := .whole}}{{end}}", "at <.whole>: can't use 3 to iterate over more than one variable"),
    ("{{range .name}}{{end}}", "at <.name>: range can't iterate over web"),
    ("{{call .whole}}", "error calling call: non-function .whole of type int64"),
    ("{{len .missing}}", "error calling len: reflect: call of reflect.Value.Type on zero Value"),
    ("{{index .list nil}}", "error calling index: cannot index slice/array with nil"),
    ("{{index .list 3}}", "error calling index: reflect: slice index out of range"),
    ("{{slice .missing 1}}", "error calling slice: slice of untyped nil"),
    ("{{with .name}}{{.more}}{{end}}", "can't evaluate field more in type string"),
    ("{{range .list}}{{.more}}{{end}}", "can't evaluate field more in type interface {}"),
    ("{{.name.more}}", '1:7: executing "output" at <.name.more>: can\'t evaluate field more in type interface {}'),
    ('{{template "none"}}', 'template "none" not defined'),
    ("{{not 1 2}}", "wrong number of args for not: want 1 got 2"),
    ("{{base64decode \"!\"}}", "error calling base64decode: base64 decode failed: illegal base64 data at input byte 0"),
]  # fmt: skip


@pytest.mark.parametrize(("template", "expected"), PRINTED)
def test_what_a_template_prints(template: str, expected: str) -> None:
    assert Template(template).text(DATA) == expected


@pytest.mark.parametrize(("template", "expected"), UNREADABLE)
def test_what_is_wrong_with_a_template(template: str, expected: str) -> None:
    with pytest.raises(TemplateError) as caught:
        Template(template)
    assert str(caught.value) == expected


@pytest.mark.parametrize(("template", "expected"), FAILING)
def test_what_goes_wrong_when_it_runs(template: str, expected: str) -> None:
    with pytest.raises(TemplateError) as caught:
        Template(template).text(DATA)
    assert str(caught.value).endswith(expected)


def test_a_missing_key_can_be_an_error() -> None:
    with pytest.raises(TemplateError, match='map has no entry for key "missing"'):
        Template("{{.missing}}", strict=True).text(DATA)


@given(st.text())
def test_any_text_is_printed_or_refused(text: str) -> None:
    try:
        Template(text).text(DATA)
    except TemplateError:
        pass


@given(st.text(alphabet=st.characters(exclude_characters="{}")))
def test_text_without_actions_is_printed_as_it_is(text: str) -> None:
    assert Template(text).text(None) == text


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=5), max_size=5))
def test_range_visits_every_item_once(items: list[str]) -> None:
    assert Template("{{range .}}{{.}}{{end}}").text(items) == "".join(items)
