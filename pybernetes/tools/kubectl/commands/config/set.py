"""config set: sets one value."""

from __future__ import annotations

import base64

from pybernetes.client.kubeconfig_files import PLURALS
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.config._file import needs_help, store_current
from pybernetes.tools.kubectl.config_changes import changing, default_file, entries, store
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, quoted

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


SUMMARY = "Set an individual value in a kubeconfig file"
USAGE = "config set PROPERTY_NAME PROPERTY_VALUE"
FLAGS = ("- set-raw-bytes bool?true false | the value of a binary field is not base64\n",)
FIELDS = {
    "clusters": {"server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority", "certificate-authority-data", "proxy-url", "disable-compression"},
    "users": {"client-certificate", "client-certificate-data", "client-key", "client-key-data", "token", "tokenFile", "as", "as-uid", "username", "password"},
    "contexts": {"cluster", "user", "namespace"},
}  # fmt: skip
# Fields that have fields of their own: they are unset as a whole, and not set.
WHOLE = {
    "clusters": {"extensions"},
    "users": {"exec", "auth-provider", "as-groups", "as-user-extra", "extensions"},
    "contexts": {"extensions"},
}
# What the original calls them here.
_ACTING = {
    ".act-as": ".as", ".act-as-uid": ".as-uid", ".act-as-groups": ".as-groups", ".act-as-user-extra": ".as-user-extra",
}  # fmt: skip
_BOOLEANS = {"colors", "insecure-skip-tls-verify", "disable-compression"}


def split(name: str) -> tuple[str, str, str]:
    """Return the kind, the name and the field that a dotted property means; names may have dots themselves."""
    kind, _, rest = name.partition(".")
    if name == "current-context":
        return "current-context", "", ""
    if name == "preferences.colors":
        return "preferences", "", "colors"
    if kind == "current-context":
        raise CommandError(f"unable to parse one or more field values of {name}")
    if kind not in PLURALS:
        raise CommandError(f"unable to parse {name} after [] at api.Config")
    for said, meant in _ACTING.items():
        rest = rest.removesuffix(said) + meant if kind == "users" and rest.endswith(said) else rest
    for field in FIELDS[kind] | WHOLE[kind]:
        if rest.endswith(f".{field}"):
            return kind, rest.removesuffix(f".{field}"), field
    if any(f".{field}." in rest for field in FIELDS[kind] | WHOLE[kind]):
        raise CommandError(f"unable to parse one or more field values of {name}")
    return kind, rest, ""


def run(context: Context) -> None:
    """Set a value."""
    if len(context.args) != 2:
        raise needs_help(context, f"Unexpected args: [{' '.join(context.args)}]")
    name, text = context.args
    if not name:
        raise CommandError("you must specify a property")
    if not text:
        raise CommandError("you cannot use set to unset a property")
    if name in ("kind", "apiVersion"):  # what they are is not for users to say
        context.out(f"Property {quoted(name)} set.")
        return
    kind, entry, field = split(name)
    if kind == "current-context":
        store_current(context, text)
    elif kind == "preferences":
        chosen = {"colors": True} if _value(field, text, False) else {}
        with changing(default_file(context)) as content:
            content["preferences"] = chosen
    else:
        if not field or field in WHOLE[kind]:
            raise CommandError("can't set a map to a value: map[]")
        value: Object = dict(entries(context, kind).get(entry) or {})
        value[field] = _value(field, text, context.flags.set_raw_bytes)
        if kind == "clusters":
            value.setdefault("server", "")
        store(context, kind, entry, value)
    context.out(f"Property {quoted(name)} set.")


def _value(field: str, text: str, raw: bool) -> Any:
    if field in _BOOLEANS:
        if text.lower() not in ("true", "false"):
            raise CommandError(f'strconv.ParseBool: parsing "{text}": invalid syntax')
        return text.lower() == "true"
    if field.endswith("-data"):
        if raw:
            return base64.b64encode(text.encode()).decode()
        plain = text.replace("\n", "").replace("\r", "")  # wrapped lines are one value
        try:
            return base64.b64encode(base64.b64decode(plain, validate=True)).decode()
        except ValueError:
            raise CommandError("error decoding input value: illegal base64 data at input byte 0") from None
    return text
