"""create clusterrole."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.create._generator import COMMON, generator, metadata
from pybernetes.tools.kubectl.commands.create._rules import RBAC, resources, rules, verbs_of
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Create a cluster role"
USAGE = "create clusterrole NAME --verb=verb --resource=resource.group [--resource-name=resourcename] [--dry-run=server|client|none]"
FLAGS = (*COMMON, """
- aggregation-rule pairs | labels of the cluster roles to put together
- non-resource-url list | paths that are no resources
- resource list | resources that the rule is about
- resource-name array | names of the only objects that the rule is about; may be repeated
- verb list | what may be done
""")  # fmt: skip
_URL_VERBS = ("*", "get", "post", "put", "delete", "patch", "head", "options")


def make(context: Context, name: str) -> Object:
    """Return a ClusterRole."""
    flags = context.flags
    base: Object = {
        "kind": "ClusterRole",
        "apiVersion": f"{RBAC}/v1",
        "metadata": metadata(context, name, False),
    }
    if flags.aggregation_rule:
        if flags.non_resource_url or flags.verb or flags.resource or flags.resource_name:
            raise CommandError(
                "aggregation rule must be specified without nonResourceURLs, verbs, resources or resourceNames"
            )
        selector = {"matchLabels": dict(sorted(flags.aggregation_rule.items()))}
        return {**base, "rules": None, "aggregationRule": {"clusterRoleSelectors": [selector]}}
    verbs = verbs_of(context)
    if not verbs:
        raise CommandError("at least one verb must be specified")
    if not resources(context) and not flags.non_resource_url:
        raise CommandError("one of resource or nonResourceURL must be specified")
    made = rules(context, verbs)
    if flags.non_resource_url:
        for verb in verbs:
            if verb not in _URL_VERBS:
                raise CommandError(f"invalid verb: '{verb}' for nonResourceURL")
        for url in flags.non_resource_url:
            if url == "*":
                continue
            if not url.startswith("/"):
                raise CommandError("nonResourceURL should start with /")
            if "*" in url[:-1]:
                raise CommandError("nonResourceURL only supports wildcard matches when '*' is at the end")
        made.append({"verbs": verbs, "nonResourceURLs": flags.non_resource_url})
    return {**base, "rules": made}


run = generator(make)
