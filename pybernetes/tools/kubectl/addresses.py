"""Addresses and paths that users write, checked as Go checks them: nothing else goes into the first line of a request."""

from __future__ import annotations

from pybernetes.tools.kubectl.errors import CommandError, quoted

_HEXADECIMAL = frozenset("0123456789abcdefABCDEF")
_PLAIN = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@/%"  # of a path
)
_NOT_IN_HOSTS = frozenset(' \\^`{|}<>"%/?#@')


def complaint(address: str) -> str:
    """Return what is wrong with the characters of an address; empty if nothing is."""
    if any(char < " " or char == "\x7f" for char in address):
        return f"parse {quoted(address)}: net/url: invalid control character in URL"
    for part in address.split("?")[0].split("%")[1:]:
        if len(part) < 2 or not _HEXADECIMAL.issuperset(part[:2]):
            return f"parse {quoted(address)}: invalid URL escape {quoted('%' + part[:2])}"
    return ""


def raw_path(text: str) -> str:
    """Return the path and the query that ``--raw`` asks for; of a whole address the server is not looked at."""
    scheme, mark, rest = text.partition("://")
    named = bool(mark) and scheme.isalnum()
    wrong = complaint(text)
    if not wrong and not text.startswith("/") and not named:
        wrong = f"parse {quoted(text)}: invalid URI for request"
    if wrong:
        raise CommandError(f"--raw must be a valid URL path: {wrong}")
    path, question, query = (f"/{rest.partition('/')[2]}" if named else text).partition("?")
    return _escaped(path, "") + (question + _escaped(query, "?") if question else "")


def _escaped(text: str, more: str) -> str:
    """Return a part of an address with escapes for what cannot stand in one."""
    if _PLAIN.union(more).issuperset(text):
        return text
    return "".join(
        char if char in _PLAIN or char in more else "".join(f"%{byte:02X}" for byte in char.encode())
        for char in text
    )


def server_parts(server: str) -> tuple[str, str, str, str]:
    """Return scheme, user, host with port, and path of a server's address; CommandError if it is none."""
    scheme, mark, rest = server.partition("://")
    named = bool(mark) and scheme.replace("+", "").isalnum()
    if not named:
        scheme, rest = "http", server
    authority, slash, path = rest.partition("?")[0].partition("#")[0].partition("/")
    user, _, host = authority.rpartition("@")
    if not _is_host(host) or complaint(server) or (path and not named):
        raise CommandError(f"host must be a URL or a host:port pair: {quoted(server)}")
    return scheme.lower(), user, host, f"/{_escaped(path, '')}".rstrip("/") if slash else ""


def _is_host(text: str) -> bool:
    """Return whether a text is a host, with or without a port."""
    name, colon, port = text.rpartition(":")
    if not colon or "]" in port:
        name, port = text, ""
    if port and not (port.isascii() and port.isdigit()):
        return False
    bracketed = name.startswith("[") and name.endswith("]")
    return bool(name) and not _NOT_IN_HOSTS.intersection(text) and (bracketed or not set("[]") & set(name))
