"""3: how users come in, and what is written down."""

from __future__ import annotations

from pybernetes.tools.audit_security.check import Check, Finding, State, by_hand, nobody, passed
from pybernetes.tools.audit_security.cluster_inputs import ClusterInputs
from pybernetes.tools.audit_security.sections._flags import given, of_apiserver


def _accounts_of_people(inputs: ClusterInputs) -> Finding:
    names = (
        f"{secret['metadata']['namespace']}/{secret['metadata']['name']}"
        for account in inputs.objects.get("serviceaccounts", ())
        for secret in ({"metadata": {**account["metadata"], "name": name["name"]}} for name in account.get("secrets", ()))
    )  # fmt: skip
    return nobody(names, "tokens that never end")


def _bootstrap(value: str) -> Finding:
    return (
        Finding(State.WARN, "bootstrap tokens are taken; delete those of nodes that have joined")
        if value == "true"
        else passed()
    )


CHECKS = (
    Check("3.1.1", "people do not use client certificates", by_hand("certificates cannot be revoked: prefer OIDC for people")),
    Check("3.1.2", "people do not use service account tokens", _accounts_of_people),
    Check("3.1.3", "people do not use bootstrap tokens", of_apiserver("enable-bootstrap-token-auth", _bootstrap)),
    Check("3.2.1", "there is an audit policy", of_apiserver("audit-policy-file", given("--audit-policy-file is not set", state=State.WARN))),
    Check("3.2.2", "the audit policy covers what matters", by_hand("secrets, token reviews, RBAC and exec at least at Metadata")),
)  # fmt: skip
