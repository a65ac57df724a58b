"""Which paths of the API are passed on, and how they are written. Pure."""

from __future__ import annotations

from urllib.parse import quote

_ROOTS = ("api", "apis", "openapi", "version", "readyz", "livez")
# What a pod or a service answers itself must not be a page of the dashboard's origin; what makes tokens must not be
# within reach of a page at all; connections of other protocols are not requests.
_NOT_PASSED = frozenset(("proxy", "token", "exec", "attach", "portforward"))


class PathRefused(ValueError):
    """The path is not passed on; the text says why."""


def checked(path: str) -> str:
    """Return a path of the API, with its escapes undone, as it is sent on; PathRefused if it is not."""
    words = path.split("/")
    if words[0] or len(words) < 2 or words[1] not in _ROOTS:
        raise PathRefused("only paths of the API are passed on")
    if any(word in ("", ".", "..") for word in words[1:]):
        raise PathRefused("the path has empty parts or dots for names")
    if not path.isprintable():
        raise PathRefused("the path has characters that cannot be printed")
    if _below_version(words)[:1] in (["watch"], ["proxy"]):
        raise PathRefused("the forms of watches and proxies of old are not passed on")
    if subresource(words) in _NOT_PASSED:
        raise PathRefused(f"{subresource(words)} is not passed on to pages")
    return quote(path, safe="/:@$!*'(),;=")


def subresource(words: list[str]) -> str:
    """Return the subresource of a path in words, the first of which is empty; empty if there is none."""
    rest = _below_version(words)
    if len(rest) > 2 and rest[0] == "namespaces":
        # namespaces/NAME/RESOURCE/…, or a subresource of the namespace itself
        rest = rest[2:] if rest[2] not in ("status", "finalize") else rest
    return rest[2] if len(rest) > 2 else ""


def _below_version(words: list[str]) -> list[str]:
    return words[3:] if words[1] == "api" else words[4:] if words[1] == "apis" else []
