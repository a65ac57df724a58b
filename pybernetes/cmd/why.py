"""why: say in words why something is as it is."""

from __future__ import annotations

import argparse
import json
import shutil
from functools import partial
from typing import TYPE_CHECKING

from pybernetes.cmd import _questions

if TYPE_CHECKING:
    from pybernetes.client.client import Client
    from pybernetes.tools.why.access import Wish
    from pybernetes.tools.why.finding import Answer

SUMMARY = "Say why a pod waits, a service has no endpoints, a request was refused; nothing is written"
_EPILOG = """
pyb why pod/NAME                    why it waits, does not start, restarts, is not ready, has ended
pyb why service/NAME                why nobody answers behind it
pyb why can-i VERB RESOURCE[/NAME]  whether you may, and the rule that would be needed
pyb why can-i                       all that you may do (or --as USER), and by which roles
pyb why 'MESSAGE'                   the same for the words of a refusal (… is forbidden: User "…" cannot …)
"""


def main(argv: list[str]) -> int:
    """Answer; the exit code is 1 if something is the matter, 2 if nothing can be said."""
    parser = argparse.ArgumentParser(
        prog="pyb why", description=SUMMARY, epilog=_EPILOG, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument(
        "what", nargs="+", metavar="KIND/NAME", help="the object, or can-i VERB RESOURCE[/NAME]"
    )
    parser.add_argument("--as", dest="user", default="", help="of can-i: another user")
    parser.add_argument("--as-group", action="append", default=[], help="of can-i: a group of that user")
    parser.add_argument("--subresource", default="", help="of can-i: a subresource, such as log")
    parser.add_argument("-A", "--all-namespaces", action="store_true", help="of can-i: in the whole cluster")
    _questions.add_arguments(parser)
    options = parser.parse_args(argv)
    return _questions.run("pyb why", options, partial(_ask, options))


async def _ask(options: argparse.Namespace, client: Client, namespace: str) -> int:
    from pybernetes.tools.why import words

    answer = await _answer(client, options, namespace)
    if options.output == "json":
        print(json.dumps(answer.as_json(), indent=2))
    else:
        print(words.text(answer, shutil.get_terminal_size((100, 24)).columns))
    return int(any(finding.cause for finding in answer.findings))


async def _answer(client: Client, options: argparse.Namespace, namespace: str) -> Answer:
    from pybernetes.tools.why import access, reading

    words = options.what
    refused = access.refusal(" ".join(words))
    if refused is not None:
        return await reading.may(client, refused[1], refused[0]._replace(groups=tuple(options.as_group)))
    if words[0] == "can-i":
        user = access.User(options.user, tuple(options.as_group)) if options.user else None
        if len(words) == 1:
            return await reading.rights(client, namespace, user)
        return await reading.may(client, _wish(options, namespace), user)
    kind, slash, name = words[0].partition("/")
    if len(words) == 2 and not slash:
        kind, name = words
    elif len(words) != 1 or not name:
        raise ValueError("it takes one object, as pod/NAME, or can-i VERB RESOURCE[/NAME]")
    return await reading.ask(client, kind, name, namespace)


def _wish(options: argparse.Namespace, namespace: str) -> Wish:
    from pybernetes.tools.why import access
    from pybernetes.tools.why.access import Wish

    if len(options.what) != 3:
        raise ValueError("can-i takes a verb and a resource, as in can-i create deployments.apps")
    _, verb, what = options.what
    if what.startswith("/"):
        return Wish(verb, path=what)
    word, _, name = what.partition("/")
    plural, group = access.resource(word)
    where = "" if options.all_namespaces else namespace
    return Wish(verb, plural, group, options.subresource, where, name)
