"""The default policy against the one of Kubernetes v1.37: not a permission more, not one less.

``upstream_policy.json`` has, for each role and binding that upstream starts with, the number of its smallest parts and a
digest of them, taken from upstream's own table. A part is a verb on a resource (of one name) or on a path, a subject, a
role that is bound, or a selector of roles to gather.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from pybernetes.control_plane.apiserver.authz.bootstrap_policy import defaults

Object = dict[str, Any]
FACTS: dict[str, list[Any]] = json.loads(Path(__file__).with_name("upstream_policy.json").read_text())
KINDS = {
    "clusterroles": "ClusterRole",
    "roles": "Role",
    "clusterrolebindings": "ClusterRoleBinding",
    "rolebindings": "RoleBinding",
}


def parts(obj: Object) -> Iterator[str]:
    if "roleRef" in obj:
        yield f"role {obj['roleRef']['kind']} {obj['roleRef']['name']}"
        for subject in obj.get("subjects", ()):
            yield f"{subject['kind']} {subject.get('namespace', '')} {subject['name']}"
        return
    for selector in obj.get("aggregationRule", {}).get("clusterRoleSelectors", ()):
        yield f"selector {json.dumps(selector, sort_keys=True)}"
    # Upstream's table leaves the rules of gathered roles to the controller that gathers them.
    for rule in () if "aggregationRule" in obj else obj["rules"]:
        names = rule.get("resourceNames") or [""]
        for verb in rule["verbs"]:
            for group, resource, name in product(rule.get("apiGroups", ()), rule.get("resources", ()), names):
                yield f"{verb} {group} {resource} {name}".rstrip()
            for url in rule.get("nonResourceURLs", ()):
                yield f"{verb} {url}"


def digest(obj: Object) -> list[Any]:
    lines = sorted(set(parts(obj)))
    return [len(lines), hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]]


def test_the_policy_is_that_of_upstream() -> None:
    ours = {}
    for plural, obj in defaults.objects():
        meta = obj["metadata"]
        name = f"{meta['namespace']}/{meta['name']}" if meta.get("namespace") else meta["name"]
        ours[f"{KINDS[plural]} {name}"] = digest(obj)
    assert len(FACTS) == 141
    assert ours == FACTS
