"""The original Helm and kubectl on hollow nodes: a release from its installation to its end, with hooks and waiting."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.original_programs import require_original
from tests.tools.local.user import User

pytestmark = pytest.mark.slow
NAME = "helm-life-cycle"

_HOOK = """
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-HOOK
  annotations: {helm.sh/hook: HOOK, helm.sh/hook-delete-policy: before-hook-creation}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: migrations}]
"""
_CHART = {
    "Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n",
    "values.yaml": "replicas: 1\nimage: web:1\n",
    "templates/web.yaml": """
apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ .Release.Name }}"}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "{{ .Values.image }}", ports: [{containerPort: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: "{{ .Release.Name }}"}
spec: {selector: {app: web}, ports: [{port: 80}]}
""",
    "templates/test.yaml": """
apiVersion: v1
kind: Pod
metadata:
  name: "{{ .Release.Name }}-test"
  annotations: {helm.sh/hook: test, hollow.pybernetes.io/logs: the page was there}
spec:
  restartPolicy: Never
  containers: [{name: curl, image: curl, args: ["http://web"]}]
""",
    **{
        f"templates/{hook}.yaml": _HOOK.replace("HOOK", hook)
        for hook in ("pre-install", "post-upgrade", "pre-rollback", "pre-delete")
    },
}


@pytest.fixture
def user(tmp_path: Path) -> Iterator[User]:
    user = User(tmp_path)
    user.pyb("up", NAME, "--hollow", "1", "--wait")
    try:
        yield user
    finally:
        user.pyb("delete", NAME)


def test_a_release_and_its_pods(user: User, tmp_path: Path) -> None:
    helm, kubectl = require_original("helm"), require_original("kubectl")
    for path, text in _CHART.items():
        file = tmp_path / "web" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    chart = str(tmp_path / "web")
    wait = ("--wait", "--timeout=60s")

    def jobs() -> set[str]:
        return set(user.run(kubectl, "get", "jobs", "-o", "jsonpath={.items[*].metadata.name}").split())

    def image() -> str:
        return user.run(
            kubectl, "get", "deployment", "web", "-o", "jsonpath={..image} {.status.readyReplicas}"
        )

    assert "STATUS: deployed" in user.run(helm, "install", "web", chart, *wait)
    assert (image(), jobs()) == ("web:1 1", {"web-pre-install"})
    user.run(helm, "upgrade", "web", chart, "--set=image=web:2,replicas=3", *wait)
    assert (image(), jobs()) == ("web:2 3", {"web-pre-install", "web-post-upgrade"})
    # A release whose pods do not come up fails, and is taken back.
    failed = user.run(helm, "upgrade", "web", chart, "--set=image=web:404", "--wait", "--timeout=3s", code=1)
    assert "context deadline exceeded" in failed or "not ready" in failed
    user.run(helm, "rollback", "web", "1", *wait)
    assert (image(), jobs()) == ("web:1 1", {"web-pre-install", "web-post-upgrade", "web-pre-rollback"})
    tested = user.run(helm, "test", "web", "--logs", "--timeout=60s")
    assert "Phase:          Succeeded" in tested and "the page was there" in tested
    history = json.loads(user.run(helm, "history", "web", "-o", "json"))
    assert [revision["status"] for revision in history] == ["superseded", "superseded", "failed", "deployed"]

    _pods(user, kubectl)

    assert 'release "web" uninstalled' in user.run(helm, "uninstall", "web", *wait)
    assert "web-pre-delete" in jobs()
    left = user.run(kubectl, "get", "deployments,services,pods", "-l", "app=web", "-o", "name")
    assert left == ""


def _pods(user: User, kubectl: str) -> None:
    """What kubectl says of a hollow pod, and what it cannot do."""
    name = user.run(kubectl, "get", "pods", "-l", "app=web", "-o", "jsonpath={.items[0].metadata.name}")
    reasons = user.run(kubectl, "events", f"--for=pod/{name}", "-o", "jsonpath={.items[*].reason}")
    assert {"Scheduled", "Pulled", "Created", "Started"} <= set(reasons.split())
    assert user.run(kubectl, "logs", name) == ""
    assert user.run(kubectl, "exec", name, "--", "sh", "-c", "echo here") == "here\n"
    assert "exit code 4" in user.run(kubectl, "exec", name, "--", "sh", "-c", "exit 4", code=4)
    assert "does not understand 'ls'" in user.run(kubectl, "exec", name, "--", "ls", code=1)
    assert "no process to attach to" in user.run(kubectl, "attach", name, code=1)
    assert "no port of it can be reached" in user.run(kubectl, "port-forward", name, ":80", code=1)
