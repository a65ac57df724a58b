"""auth can-i."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.describe._rbac import _compact, _resource
from pybernetes.tools.kubectl.describe._writer import shown
from pybernetes.tools.kubectl.errors import CommandError, Exit
from pybernetes.tools.kubectl.output.table import columns
from pybernetes.tools.kubectl.resources.discovery import match

if TYPE_CHECKING:
    from pybernetes.api.resource import Object
    from pybernetes.tools.kubectl.command_line.flags import Values


SUMMARY = "Check whether an action is allowed"
USAGE = "auth can-i VERB [TYPE | TYPE/NAME | NONRESOURCEURL]"
FLAGS = (shared_flags.ALL_NAMESPACES, """
- list bool false | list what is allowed in the namespace
- no-headers bool false | leave the headings out
q quiet bool false | say nothing, only end with a code
- subresource string | subresource, as log or scale
""")  # fmt: skip
_VERBS = {
    "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "use", "bind", "impersonate", "*",
    "approve", "sign", "escalate", "attest",
}  # fmt: skip
_URL_VERBS = {"get", "put", "post", "head", "options", "delete", "patch", "*"}


def run(context: Context) -> None:
    """Ask the server whether the user may do something."""
    flags, args = context.flags, context.args
    if flags.list:
        if args:
            raise CommandError("list option must be specified with no arguments")
        if flags.quiet or flags.all_namespaces or flags.subresource:
            raise CommandError(
                "list option can't be specified with neither quiet, all-namespaces nor subresource options"
            )
        _list(context)
        return
    if len(args) != 2:
        raise CommandError(
            "you must specify two arguments: verb resource or verb resource/resourceName.\n"
            "See 'kubectl auth can-i -h' for help and examples."
        )
    if flags.no_headers:
        raise CommandError("--no-headers cannot be set without --list specified")
    _ask(context)


def _ask(context: Context) -> None:
    flags, args = context.flags, context.args
    verb, what = args[0], args[1]
    namespace = "" if flags.all_namespaces else context.namespace
    spec: Object
    if what.startswith("/"):
        if flags.subresource:
            raise CommandError("--subresource can not be used with NonResourceURL")
        if len(args) == 3:
            raise CommandError("NonResourceURL and ResourceName can not specified together")
        if verb not in _URL_VERBS:
            _warn(context, f"verb '{verb}' is not a known verb")
        spec = {"nonResourceAttributes": {"path": what, "verb": verb}}
    else:
        word, _, name = what.partition("/")
        name = args[2] if len(args) == 3 else name
        plural, group = _resolve(context, word, namespace, flags)
        if verb not in _VERBS:
            _warn(context, f"verb '{verb}' is not a known verb")
        attributes = {
            "namespace": namespace,
            "verb": verb,
            "group": group,
            "resource": plural,
            "subresource": flags.subresource,
            "name": name,
        }
        spec = {"resourceAttributes": {key: value for key, value in attributes.items() if value}}
    body = {
        "kind": "SelfSubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": spec,
    }
    status = context.client.json("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body)[
        "status"
    ]
    if not flags.quiet:
        text = "yes" if status.get("allowed") else "no"
        if not status.get("allowed"):
            text += f" - {status['reason']}" if status.get("reason") else ""
            text += f" - {status['evaluationError']}" if status.get("evaluationError") else ""
        context.out(text)
    if not status.get("allowed"):
        raise Exit(1)


def _warn(context: Context, text: str) -> None:
    context.warn(f"Warning: {text}\n")


def _resolve(context: Context, word: str, namespace: str, flags: Values) -> tuple[str, str]:
    if word == "*":
        return "*", ""
    name, _, group = word.partition(".")
    try:
        resource = match(context.discovery.resources(2), word) or match(context.discovery.refresh(2), word)
    except CommandError:  # the question may have an answer all the same
        resource = None
    if resource is None:
        where = f" in group '{group}'" if group else ""
        if word not in ("users", "groups"):  # they are no objects, but can be impersonated
            _warn(context, f"the server doesn't have a resource type '{name}'{where}")
        return name, group
    if not resource.namespaced and namespace and not flags.all_namespaces:
        where = f" in group '{resource.group}'" if resource.group else ""
        _warn(context, f"resource '{resource.plural}' is not namespace scoped{where}")
    return resource.plural, resource.group


def _list(context: Context) -> None:
    body = {
        "kind": "SelfSubjectRulesReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": {"namespace": context.namespace},
    }
    status = context.client.json("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", body)[
        "status"
    ]
    rules = _compact(status.get("resourceRules") or [])
    rules += [
        {"nonResourceURLs": [url], "verbs": rule.get("verbs") or []}
        for rule in status.get("nonResourceRules") or ()
        for url in rule.get("nonResourceURLs") or ()
    ]
    from pybernetes.tools.kubectl.describe._rbac import _order

    rows = [] if context.flags.no_headers else [["Resources", "Non-Resource URLs", "Resource Names", "Verbs"]]
    for rule in sorted(rules, key=_order):
        rows.append(
            [
                _resource(rule),
                *(shown(rule.get(key) or []) for key in ("nonResourceURLs", "resourceNames", "verbs")),
            ]
        )
    context.stdout.write(columns(rows))
    if status.get("incomplete"):
        context.warn(f"Warning: the list may be incomplete: {status.get('evaluationError', '')}")
