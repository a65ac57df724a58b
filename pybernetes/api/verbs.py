"""Verbs: what a method of HTTP is in the words of authorization."""

from __future__ import annotations

# The verb of a request for one object; a collection has verbs of its own for some methods.
VERB_OF_METHOD = {
    "POST": "create",
    "GET": "get",
    "HEAD": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
