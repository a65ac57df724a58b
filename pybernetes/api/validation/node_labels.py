"""Labels of nodes that have newer names."""

from __future__ import annotations

from pybernetes.api.field import Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import names

DEPRECATED = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}


def node_selector_term_warnings(term: Object, path: Path, *, check_values: bool = False) -> list[str]:
    """Warn about one term of a NodeSelector."""
    messages = []
    for index, expression in enumerate(term.get("matchExpressions", ())):
        here = (path / "matchExpressions")[index]
        key = expression.get("key", "")
        if key in DEPRECATED:
            messages.append(f"{here / 'key'}: {key} is {DEPRECATED[key]}")
        for position, value in enumerate(expression.get("values", ()) if check_values else ()):
            for problem in names.label_value(value):
                messages.append(f"{(here / 'values')[position]}: {value} is invalid, {problem}")
    return messages
