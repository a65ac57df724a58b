"""Settings of pods and policies that have to be honoured or refused."""

from __future__ import annotations

from tests.attacks._target import Attack, Target, pod, until


def _root(target: Target) -> str:
    """Run an image without a user although no root may run."""
    context = {"securityContext": {"runAsNonRoot": True}}
    target.apply(pod("rooted", restricted=False, container=context))
    try:
        phase = target.settled("rooted")["status"].get("phase")
        return f"it runs as {target.inside('rooted', 'id -u').stdout.strip()}" if phase == "Running" else ""
    finally:
        target.remove("rooted")


def _users(target: Target) -> str:
    """Ask for users of its own: what runs must have them."""
    target.apply(pod("mapped", restricted=False, hostUsers=False))
    try:
        if target.settled("mapped")["status"].get("phase") != "Running":
            return ""
        mapped = target.inside("mapped", "cat /proc/self/uid_map").stdout.split()
        return "its root is the node's root" if mapped[:2] == ["0", "0"] else ""
    finally:
        target.remove("mapped")


def _policy(target: Target) -> str:
    """Reach a pod that a policy closes."""
    serving = pod(
        "closed",
        restricted=False,
        script="mkdir -p /tmp/w; echo open > /tmp/w/index.html; httpd -f -p 8080 -h /tmp/w",
    )
    target.apply(serving, pod("visitor", restricted=False))
    try:
        target.settled("visitor")
        address = target.settled("closed")["status"]["podIP"]
        fetch = f"printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 2 {address} 8080"
        assert until(lambda: "open" in target.inside("visitor", fetch).stdout, 30), (
            "it cannot be reached at all"
        )
        target.apply(
            {
                "apiVersion": "networking.k8s.io/v1",
                "kind": "NetworkPolicy",
                "metadata": {"name": "closed"},
                "spec": {"podSelector": {"matchLabels": {"app": "closed"}}, "policyTypes": ["Ingress"]},
            }
        )
        held = until(lambda: "open" not in target.inside("visitor", fetch).stdout, 20)
        return "" if held else "a policy that closes a pod changes nothing"
    finally:
        target.kubectl("delete", "networkpolicy", "closed", "--ignore-not-found")
        target.remove("closed", "visitor")


ATTACKS: dict[str, Attack] = {
    "10 root although runAsNonRoot": _root,
    "10 the node's users although hostUsers is false": _users,
    "10 a network policy": _policy,
}
