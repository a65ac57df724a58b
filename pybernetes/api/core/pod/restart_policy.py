"""Whether a container that ended starts again."""

from __future__ import annotations

from pybernetes.api.resource import Object


def _matching_action(container: Object, exit_code: int) -> str:
    for rule in container.get("restartPolicyRules", ()):
        codes = rule.get("exitCodes")
        if codes is None:
            continue
        listed = exit_code in codes.get("values", ())
        if codes.get("operator") == ("In" if listed else "NotIn"):
            return rule.get("action", "")
    return ""


def should_restart(container: Object, pod_policy: str, exit_code: int) -> bool:
    """Return what the container's own rules and policy say, or else the pod's policy."""
    policy = container.get("restartPolicy")
    if policy is not None and _matching_action(container, exit_code) in ("Restart", "RestartAllContainers"):
        return True
    if policy not in ("Always", "OnFailure", "Never"):
        policy = pod_policy
    return exit_code != 0 if policy == "OnFailure" else policy != "Never"


def restarts_all(container: Object, exit_code: int) -> bool:
    """Return whether a container that ended so has every container of its pod start again."""
    return _matching_action(container, exit_code) == "RestartAllContainers"


def all_could_restart(spec: Object) -> bool:
    """Return whether some container's rules can restart all the others."""
    return any(
        rule.get("action") == "RestartAllContainers"
        for key in ("initContainers", "containers")
        for container in spec.get(key, ())
        for rule in container.get("restartPolicyRules", ())
    )
