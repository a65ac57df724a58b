"""config view: shows the configuration, secrets left out."""

from __future__ import annotations

import copy
import os

from pybernetes.client import kubeconfig_files
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.config_changes import complete
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.files import read_bytes
from pybernetes.tools.kubectl.output import printers

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Display merged kubeconfig settings or a specified kubeconfig file"
USAGE = "config view [flags]"
FLAGS = (shared_flags.TEMPLATE, """
- flatten bool false | put the contents of files into the output
- merge bool true | put all files together
- minify bool false | only what the current context uses
o output string yaml | output format: json, yaml, kyaml, name, go-template, jsonpath, …
- raw bool false | show secrets, and bytes as they are
""")  # fmt: skip
_SECRET = {"certificate-authority-data": "DATA+OMITTED", "client-certificate-data": "DATA+OMITTED", "client-key-data": "DATA+OMITTED", "token": "REDACTED", "password": "REDACTED"}  # fmt: skip
_DATA = {name for name in _SECRET if name.endswith("-data")}
_ORDER = {
    "clusters": ("server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority", "certificate-authority-data", "proxy-url"),
    "users": ("client-certificate", "client-certificate-data", "client-key", "client-key-data", "token", "tokenFile", "as", "username", "password", "auth-provider", "exec"),
    "contexts": ("cluster", "user", "namespace"),
}  # fmt: skip


def run(context: Context) -> None:
    """Print the configuration."""
    flags = context.flags
    if context.args:
        raise context.usage(f"unexpected arguments: [{' '.join(context.args)}]")
    if not flags.merge and not flags.kubeconfig:
        raise CommandError("if merge==false a precise file must be specified")
    config = copy.deepcopy(context.config)
    if flags.minify:
        config = _minified(context, config)
    if flags.flatten:
        _flatten(config)
    if not flags.raw and not flags.flatten:
        for plural, singular in (("clusters", "cluster"), ("users", "user")):
            for entry in config.get(plural) or ():
                inner = entry.get(singular) or {}
                for key, text in _SECRET.items():
                    if inner.get(key):
                        inner[key] = text
    _unwrap(config)
    value = _ordered(complete(config))
    output = flags.output or "yaml"
    if output == "name":
        context.out("config/<unknown>")
        return
    if flags.template and "output" not in flags.changed:
        output = "go-template"
    printers.structured(context, output, printers.FORMATS, typed=True)(value)


def _unwrap(config: Object) -> None:
    """Write what is encoded without the line breaks that files may have in it."""
    for plural, singular in (("clusters", "cluster"), ("users", "user")):
        for entry in config.get(plural) or ():
            inner = entry.get(singular) or {}
            for name in _DATA:
                if inner.get(name):
                    inner[name] = "".join(inner[name].split())


def _ordered(value: Object) -> Object:
    ordered: Object = {"kind": "Config", "apiVersion": "v1"}
    for plural in ("clusters", "users", "contexts"):
        singular = plural[:-1]
        entries = []
        for entry in sorted(value.get(plural) or (), key=lambda item: item["name"]):
            inner = entry[singular]
            keys = [key for key in _ORDER[plural] if key in inner] + [
                key for key in inner if key not in _ORDER[plural]
            ]
            entries.append({"name": entry["name"], singular: {key: inner[key] for key in keys}})
        ordered[plural] = entries or None
    return {
        **ordered,
        "current-context": value.get("current-context") or "",
        **{name: field for name, field in value.items() if name not in ordered and name != "current-context"},
    }


def _minified(context: Context, config: Object) -> Object:
    name = context.flags.context or config.get("current-context")
    if not name:
        raise CommandError("current-context must exist in order to minify")
    chosen = kubeconfig_files.entry(config, "contexts", name)
    if chosen is None:
        raise CommandError(f"cannot locate context {name}")
    kept = {"contexts": name, "clusters": chosen.get("cluster"), "users": chosen.get("user")}
    for plural, wanted in kept.items():
        if wanted and kubeconfig_files.entry(config, plural, wanted) is None:
            raise CommandError(f"cannot locate {plural[:-1]} {wanted}")
    return {
        **config,
        "current-context": name,
        **{
            plural: [entry for entry in config.get(plural) or () if entry["name"] == wanted]
            for plural, wanted in kept.items()
        },
    }


def _flatten(config: Object) -> None:
    import base64

    for plural, singular, keys in (
        ("users", "user", ("client-certificate", "client-key")), ("clusters", "cluster", ("certificate-authority",)),
    ):  # fmt: skip
        for entry in config.get(plural) or ():
            inner = entry.get(singular) or {}
            kubeconfig_files.resolve(inner, os.path.dirname(os.path.abspath(entry[kubeconfig_files.ORIGIN])))
            for key in keys:
                path = inner.pop(key, None)
                if path:
                    inner[f"{key}-data"] = base64.b64encode(read_bytes(path)).decode()
