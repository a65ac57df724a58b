"""PodSecurity: namespaces say by their labels how careful their pods have to be.

Pods that violate what is enforced are refused. Workloads never are, but who writes one is warned of what would
become of its pods. A namespace that becomes stricter is told which of its pods would not be let in again.
"""

from __future__ import annotations

from typing import Any

from pybernetes.api import errors
from pybernetes.api.core.pod.security_standards.evaluate import details, evaluate
from pybernetes.api.core.pod.security_standards.policy import (
    PREFIX,
    PRIVILEGED,
    Policy,
    Standard,
    policy_of,
    strictness,
)
from pybernetes.api.field import Errors
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from pybernetes.control_plane.apiserver.admission.lookup import Lookup, Remembered
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs, Scope
from pybernetes.control_plane.apiserver.admission.plugins.pod_security import existing
from pybernetes.control_plane.apiserver.admission.plugins.pod_security.configuration import Configuration

Fields = dict[str, Any]
_ENFORCED, _PRIVILEGED = f"{PREFIX}enforce-policy", str(Standard())
_IGNORED_SUBRESOURCES = ("attach", "binding", "eviction", "exec", "log", "portforward", "proxy", "status")
# Where the workloads keep the template of their pods.
_TEMPLATES = {
    "podtemplates": ("template",),
    "replicationcontrollers": ("spec", "template"),
    "replicasets.apps": ("spec", "template"),
    "deployments.apps": ("spec", "template"),
    "statefulsets.apps": ("spec", "template"),
    "daemonsets.apps": ("spec", "template"),
    "jobs.batch": ("spec", "template"),
    "cronjobs.batch": ("spec", "jobTemplate", "spec", "template"),
}


class PodSecurity(Plugin):
    """The plugin."""

    name = "PodSecurity"
    order = 120
    on_by_default = True
    configurable = True
    scope = Scope(resources=("pods", "namespaces", *_TEMPLATES), subresources=None)

    def __init__(self, inputs: PluginInputs) -> None:
        self._configuration = Configuration.read(inputs.configuration)
        self._namespaces = Lookup(inputs.context, "", "namespaces")
        self._pods = Lookup(inputs.context, "", "pods", keep=False)
        self._policies = Remembered(self._policy)

    def _policy(self, namespace: Object) -> tuple[Policy, Errors]:
        problems = Errors()
        labels = namespace["metadata"].get("labels") or {}
        return policy_of(labels, self._configuration.defaults, problems), problems

    def is_idle(self, operation: str, resource: str, subresource: str) -> bool:
        """Return whether it is about a part in which nothing is to be judged."""
        return subresource in _IGNORED_SUBRESOURCES if resource == "pods" else bool(subresource)

    def validate(self, attributes: Attributes) -> None:
        """Judge a pod, a template of pods, or the labels of a namespace."""
        plural = attributes.resource.plural
        if plural == "pods":
            self._check_pod(attributes)
        elif plural == "namespaces":
            self._check_namespace(attributes)
        else:
            self._check_template(attributes)

    def _policy_of(self, attributes: Attributes) -> tuple[Policy, Errors] | None:
        """Return the policy of the write's namespace; None if the namespace or the user is exempt, or it does not exist."""
        exempt = self._configuration
        if attributes.namespace in exempt.namespaces:
            attributes.annotations[f"{PREFIX}exempt"] = "namespace"
            return None
        if exempt.usernames and attributes.user.name in exempt.usernames:
            attributes.annotations[f"{PREFIX}exempt"] = "user"
            return None
        namespace = self._namespaces.get("", attributes.namespace)
        return None if namespace is None else self._policies.of(attributes.namespace, namespace)

    def _check_pod(self, attributes: Attributes) -> None:
        in_force = self._policy_of(attributes)
        if in_force is None:
            return
        policy, problems = in_force
        if not problems and policy.privileged:
            attributes.annotations[_ENFORCED] = _PRIVILEGED
            return
        pod = attributes.obj
        assert pod is not None
        if attributes.operation == UPDATE and not existing.changes_images(pod, attributes.old or {}):
            return
        self._evaluate(attributes, policy, problems, pod["metadata"], pod["spec"], enforce=True)

    def _check_template(self, attributes: Attributes) -> None:
        in_force = self._policy_of(attributes)
        if in_force is None:
            return
        policy, problems = in_force
        if not problems and policy.warn.level == policy.audit.level == PRIVILEGED:
            return
        resource = attributes.resource
        template: Any = attributes.obj
        for key in _TEMPLATES[errors.qualified(resource.group, resource.plural)]:
            template = (template or {}).get(key)
        if template is not None:
            metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
            self._evaluate(attributes, policy, problems, metadata, spec, enforce=False)

    def _evaluate(
        self, attributes: Attributes, policy: Policy, problems: Errors, metadata: Fields, spec: Fields, *, enforce: bool
    ) -> None:  # fmt: skip
        notes = attributes.annotations
        if spec.get("runtimeClassName") in self._configuration.runtime_classes:
            notes[f"{PREFIX}exempt"] = "runtimeClass"
            return
        if problems:
            listed = ", ".join(str(problem) for problem in problems)
            notes[f"{PREFIX}error"] = f"Failed to parse policy: {listed}"
        refused = ""
        if enforce:
            notes[_ENFORCED] = str(policy.enforce)
            if violations := evaluate(policy.enforce, metadata, spec):
                refused = (
                    f"violates PodSecurity {go_format.quote(str(policy.enforce))}: {details(violations)}"
                )
        if violations := evaluate(policy.audit, metadata, spec):
            notes[f"{PREFIX}audit-violations"] = _would(policy.audit, details(violations))
        if refused:
            attributes.refuse(refused)
        if violations := evaluate(policy.warn, metadata, spec):
            attributes.warn(_would(policy.warn, details(violations)))

    def _check_namespace(self, attributes: Attributes) -> None:
        namespace, old = attributes.obj, attributes.old
        assert namespace is not None
        policy, problems = self._policy(namespace)
        before, old_problems = self._policy(old) if old is not None else (None, Errors())
        if problems and [str(problem) for problem in problems] != [str(problem) for problem in old_problems]:
            raise errors.invalid("", "Namespace", attributes.name, problems)
        if before is not None and not _stricter(policy.enforce, before.enforce):
            return
        name = namespace["metadata"].get("name", "")
        if name in self._configuration.namespaces:
            warning = existing.exempt_warning(name, policy, self._configuration.defaults, namespace)
            if warning:
                attributes.warn(warning)
        elif attributes.operation != CREATE:
            exempt = self._configuration.runtime_classes
            for warning in existing.warnings(name, self._pods.all_objects(name), policy.enforce, exempt):
                attributes.warn(warning)


def _would(standard: Standard, detail: str) -> str:
    return f"would violate PodSecurity {go_format.quote(str(standard))}: {detail}"


def _stricter(new: Standard, old: Standard) -> bool:
    """Return whether pods that were let in could be refused now."""
    if new == old or new.level == PRIVILEGED:
        return False
    return new.version != old.version or strictness(new.level) > strictness(old.level)


PLUGIN = PodSecurity
