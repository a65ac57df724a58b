"""5.3 to 5.6: network policies, secrets, admission, and general advice."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.tools.audit_security.check import Check, Finding, State, by_hand, nobody, passed
from pybernetes.tools.audit_security.cluster_inputs import ClusterInputs, name_of
from pybernetes.tools.audit_security.sections._flags import words
from pybernetes.tools.audit_security.sections.s5_2_pod_security import containers, security


def _policies(inputs: ClusterInputs) -> Finding:
    covered = {policy["metadata"]["namespace"] for policy in inputs.objects.get("networkpolicies", ())}
    return nobody((name for name in inputs.namespaces() if name not in covered), "namespaces without")


def _secrets_in_environment(inputs: ClusterInputs) -> Finding:
    def reads(container: Object) -> bool:
        variables = container.get("env") or ()
        sources = container.get("envFrom") or ()
        return any("secretKeyRef" in (variable.get("valueFrom") or {}) for variable in variables) or any(
            "secretRef" in source for source in sources
        )

    names = (name_of(pod) for pod in inputs.pods() if any(reads(container) for container in containers(pod)))
    return nobody(names, "secrets in variables of")


def _provenance(inputs: ClusterInputs) -> Finding:
    plugins = words((inputs.apiserver or {}).get("enable-admission-plugins", ""))
    if "ImagePolicyWebhook" in plugins or inputs.objects.get("validatingwebhookconfigurations"):
        return passed()
    return Finding(State.WARN, "nobody looks at images before they run")


def _seccomp(inputs: ClusterInputs) -> Finding:
    def has_profile(pod: Object) -> bool:
        whole = pod["spec"].get("securityContext") or {}
        return bool(whole.get("seccompProfile")) or all(
            security(container).get("seccompProfile") for container in containers(pod)
        )

    return nobody((name_of(pod) for pod in inputs.pods() if not has_profile(pod)), "no profile")


def _contexts(inputs: ClusterInputs) -> Finding:
    bare = (
        name_of(pod)
        for pod in inputs.pods()
        if not pod["spec"].get("securityContext")
        and not all(security(container) for container in containers(pod))
    )
    return nobody(bare, "no security context")


def _default(inputs: ClusterInputs) -> Finding:
    return nobody(
        (name_of(pod) for pod in inputs.pods() if pod["metadata"]["namespace"] == "default"),
        "pods in default",
    )


CHECKS = (
    Check("5.3.1", "the pod network enforces NetworkPolicies", by_hand("Pybernetes' own pod network does; ask another one")),
    Check("5.3.2", "every namespace has a NetworkPolicy", _policies),
    Check("5.4.1", "secrets are files, not variables", _secrets_in_environment),
    Check("5.4.2", "secrets are kept outside of the cluster", by_hand("a matter of choice")),
    Check("5.5.1", "images are checked before they run", _provenance),
    Check("5.6.1", "namespaces divide what belongs to different people", by_hand("a matter of choice")),
    Check("5.6.2", "pods have a seccomp profile", _seccomp),
    Check("5.6.3", "pods have a security context", _contexts),
    Check("5.6.4", "the namespace default is not used", _default),
)  # fmt: skip
