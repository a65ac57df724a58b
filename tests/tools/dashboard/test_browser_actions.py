"""What can be done in the browser: scale, restart, roll back, delete, drain, and what a user who may only read is offered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.servers import Server
from tests.servers import running as running_server
from tests.support import until
from tests.tools.dashboard.conftest import log_in
from tests.tools.dashboard.running import Dashboard

pytestmark = pytest.mark.slow
_APPS = "/apis/apps/v1/namespaces/default"
_PODS = "/api/v1/namespaces/default/pods"
_RBAC = "/apis/rbac.authorization.k8s.io/v1"


def _template(image: str) -> dict[str, Any]:
    return {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": image}]},
    }


def _deployment(name: str, image: str) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": _template(image)},
    }


def _pod(server: Server, name: str, **spec: Any) -> None:
    containers = [{"name": "main", "image": "none"}]
    labels = {"app": name.partition("-")[0]}
    body = {
        "metadata": {"name": name, "labels": labels},
        "spec": {"nodeName": "one", "terminationGracePeriodSeconds": 0, "containers": containers, **spec},
    }
    server.make(_PODS, body)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("server"), "--authorization-mode=RBAC") as server:
        server.make("/api/v1/nodes", {"metadata": {"name": "one"}})
        server.make(f"{_APPS}/deployments", _deployment("web", "shop:2"))
        yield server


def _token(server: Server, name: str, role: str, cluster: bool) -> str:
    """Return the token of a new account that has a role, everywhere or in the namespace default."""
    server.make("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": name}})
    binding = {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "default"}],
    }
    server.make(f"{_RBAC}/{'clusterrolebindings' if cluster else 'namespaces/default/rolebindings'}", binding)
    path = f"/api/v1/namespaces/default/serviceaccounts/{name}/token"
    return server.make(path, {"spec": {}})["status"]["token"]


def test_scale_shows_the_command_and_does_it(page: Any, dashboard: Dashboard, server: Server) -> None:
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/object/deployments.apps/default/web")
    page.click("button >> text=Scale")
    page.fill("dialog input[name=replicas]", "-1")
    assert page.is_disabled("#confirm")
    page.fill("dialog input[name=replicas]", "5")
    assert page.inner_text("dialog .command") == "kubectl scale deployments.apps/web -n default --replicas=5"
    page.click("#confirm")
    page.wait_for_selector("dialog", state="detached")
    page.wait_for_selector(".summary >> text=0 ready of 5")
    assert server.call("GET", f"{_APPS}/deployments/web")[1]["spec"]["replicas"] == 5


def test_restart_changes_only_the_annotation(page: Any, dashboard: Dashboard, server: Server) -> None:
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/object/deployments.apps/default/web")
    page.wait_for_selector("button >> text=Restart")
    page.keyboard.press("r")
    page.click("#confirm")
    page.wait_for_selector("dialog", state="detached")
    template = server.call("GET", f"{_APPS}/deployments/web")[1]["spec"]["template"]
    assert list(template["metadata"]["annotations"]) == ["kubectl.kubernetes.io/restartedAt"]


def test_rollback_shows_the_difference_between_revisions(
    page: Any, dashboard: Dashboard, server: Server
) -> None:
    made = server.make(f"{_APPS}/deployments", _deployment("old", "shop:2"))
    for revision, image in ((1, "shop:1"), (2, "shop:2")):
        template = _template(image)
        template["metadata"]["labels"]["pod-template-hash"] = f"hash{revision}"
        body = {
            "metadata": {
                "name": f"old-{revision}",
                "annotations": {"deployment.kubernetes.io/revision": str(revision)},
                "ownerReferences": [
                    {"apiVersion": "apps/v1", "kind": "Deployment", "name": "old", "controller": True, "uid": made["metadata"]["uid"]}
                ],
            },
            "spec": {"selector": {"matchLabels": template["metadata"]["labels"]}, "template": template},
        }  # fmt: skip
        server.make(f"{_APPS}/replicasets", body)
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/object/deployments.apps/default/old")
    page.click("button >> text=Roll back")
    page.wait_for_selector("#changes .good >> text=shop:1")
    page.wait_for_selector("#changes .bad >> text=shop:2")
    assert (
        page.inner_text("dialog .command")
        == "kubectl rollout undo deployments.apps/old -n default --to-revision=1"
    )
    page.click("#confirm")
    page.wait_for_selector("dialog", state="detached")
    template = server.call("GET", f"{_APPS}/deployments/old")[1]["spec"]["template"]
    assert template["spec"]["containers"][0]["image"] == "shop:1"
    assert template["metadata"]["labels"] == {"app": "web"}


def test_several_objects_are_deleted_at_once_with_the_keyboard(
    page: Any, dashboard: Dashboard, server: Server
) -> None:
    for name in ("bulk-a", "bulk-b", "bulk-c"):
        server.make("/api/v1/namespaces/default/configmaps", {"metadata": {"name": name}})
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/list/configmaps?ns=default&q=bulk-&sort=Name")
    page.wait_for_selector(".space .cell >> text=bulk-c")
    page.focus(".rows")
    page.keyboard.press("Space")
    page.keyboard.press("j")
    page.keyboard.press("Space")
    page.wait_for_selector(".actions >> text=2 selected")
    page.keyboard.press("Delete")
    page.wait_for_selector(
        "dialog .command >> text=kubectl delete configmaps/bulk-a configmaps/bulk-b -n default"
    )
    page.click("#confirm")
    page.wait_for_selector(".story >> text=bulk-b: done")
    page.click("#cancel")
    page.wait_for_selector(".space .cell >> text=bulk-a", state="detached")
    page.wait_for_selector(".space .cell >> text=bulk-c")
    assert page.locator(".space .row").count() == 1


def test_a_namespace_goes_only_when_its_name_is_typed(
    page: Any, dashboard: Dashboard, server: Server
) -> None:
    server.make("/api/v1/namespaces", {"metadata": {"name": "precious"}})
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/object/namespaces/-/precious")
    page.click("button >> text=Delete")
    assert page.is_disabled("#confirm")
    page.fill("dialog input[name=typed]", "precious")
    page.click("#confirm")
    page.wait_for_selector(".summary >> text=Terminating")


def test_drain_says_what_stands_in_the_way_and_shows_progress(
    page: Any, dashboard: Dashboard, server: Server
) -> None:
    _pod(server, "lone")
    _pod(server, "data-1", volumes=[{"name": "cache", "emptyDir": {}}])
    daemon = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "1", "controller": True}
    _pod(server, "agent")
    server.call(
        "PATCH", f"{_PODS}/agent", {"metadata": {"ownerReferences": [daemon]}},
        headers={"Content-Type": "application/merge-patch+json"},
    )  # fmt: skip
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/object/nodes/-/one")
    page.click("button >> text=Drain")
    page.click("#confirm")
    page.wait_for_selector("dialog .problem >> text=default/lone has no controller")
    page.wait_for_selector("dialog .problem >> text=default/data-1 has data")
    page.check("dialog input[name=force]")
    page.check("dialog input[name=data]")
    page.wait_for_selector(
        "dialog .command >> text=kubectl drain one --ignore-daemonsets --force --delete-emptydir-data"
    )
    page.click("#confirm")
    page.wait_for_selector(".story >> text=2 of 2")
    page.wait_for_selector(".story >> text=one is drained")
    page.click("#cancel")
    assert server.call("GET", "/api/v1/nodes/one")[1]["spec"]["unschedulable"] is True
    assert [pod["metadata"]["name"] for pod in server.call("GET", _PODS)[1]["items"]] == ["agent"]
    page.click("button >> text=Uncordon")
    page.click("#confirm")
    page.wait_for_selector("button >> text=/^Cordon$/")
    until(lambda: "unschedulable" not in server.call("GET", "/api/v1/nodes/one")[1]["spec"])


def test_who_may_only_read_is_offered_nothing_else(page: Any, dashboard: Dashboard, server: Server) -> None:
    log_in(page, dashboard, _token(server, "reader", "view", cluster=True))
    page.goto(f"{dashboard.origin}/#/object/deployments.apps/default/web")
    page.wait_for_selector("button:disabled >> text=Scale")
    page.wait_for_selector("button:disabled >> text=Delete")
    title = page.get_attribute("button >> text=Scale", "title")
    assert title == "You may not patch deployments.apps/scale here."
    # The API server has the last word, whatever a page says.
    page.evaluate(
        "document.querySelectorAll('button:disabled').forEach((button) => { button.disabled = false; })"
    )
    page.click("button >> text=Delete")
    page.click("#confirm")
    page.wait_for_selector("dialog .problem >> text=forbidden")
    assert server.call("GET", f"{_APPS}/deployments/web")[0] == 200
    page.keyboard.press("Escape")
    page.goto(f"{dashboard.origin}/#/list/secrets?ns=default")
    page.wait_for_selector(".problem >> text=forbidden")


def test_who_has_one_namespace_sees_that_one(page: Any, dashboard: Dashboard, server: Server) -> None:
    log_in(page, dashboard, _token(server, "tenant", "edit", cluster=False))
    # The place that everybody begins at, all pods, is not his: his namespace is shown instead.
    page.wait_for_selector("h1 >> text=in default")
    page.goto(f"{dashboard.origin}/#/list/deployments.apps")
    page.wait_for_selector("h1 >> text=in default")
    page.wait_for_selector(".space .cell >> text=web")
    page.goto(f"{dashboard.origin}/#/list/nodes")
    page.wait_for_selector(".problem >> text=forbidden")
    page.fill("#search", "web")
    page.wait_for_selector(".hits b >> text=/^web$/")
    page.goto(f"{dashboard.origin}/#/object/deployments.apps/default/web")
    page.wait_for_selector("button:not(:disabled) >> text=Scale")


def test_commands_are_quoted_for_shells(page: Any, dashboard: Dashboard) -> None:
    page.goto(dashboard.origin)
    script = 'async (words) => (await import("/command.js")).kubectl(...words)'
    for words, command in (
        (["get", "roles/system:a", "-n", "x"], "kubectl get roles/system:a -n x"),
        (["get", "roles/$(reboot)"], "kubectl get 'roles/$(reboot)'"),
        (["get", "roles/a';reboot;'"], "kubectl get 'roles/a'\\'';reboot;'\\'''"),
        (["get", "roles/a\nb", "", None, False], "kubectl get 'roles/a\nb'"),
    ):
        assert page.evaluate(script, words) == command


def test_the_ten_steps_of_a_pod_that_is_created_meanwhile(
    page: Any, dashboard: Dashboard, server: Server
) -> None:
    """The test plays scheduler and kubelet, so that each step can be seen by itself."""
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/trace/default/fresh")
    page.wait_for_selector("text=waiting for the pod")
    containers = [{"name": "main", "image": "none"}]
    server.make(_PODS, {"metadata": {"name": "fresh"}, "spec": {"containers": containers}})
    page.wait_for_selector(".ten [data-step='2'].good small >> text=/ms/")
    page.wait_for_selector(".step >> text=admission")
    assert page.locator(".ten [data-step='5'].good").count() == 0
    server.make(
        f"{_PODS}/fresh/binding",
        {"metadata": {"name": "fresh"}, "target": {"kind": "Node", "name": "one"}},
    )
    page.wait_for_selector(".ten [data-step='5'].good, .ten [data-step='4'].good")
    assert page.locator(".ten [data-step='10'].good").count() == 0
    running = {"startedAt": "2026-01-01T00:00:00Z"}
    status = {
        "phase": "Running",
        "containerStatuses": [
            {"name": "main", "image": "none", "imageID": "", "ready": True, "restartCount": 0, "state": {"running": running}}
        ],
    }  # fmt: skip
    code, answer = server.call(
        "PATCH", f"{_PODS}/fresh/status", {"status": status},
        headers={"Content-Type": "application/merge-patch+json"},
    )  # fmt: skip
    assert code == 200, answer
    page.wait_for_selector(".ten [data-step='10'].good")
    page.wait_for_selector("text=/Running on one: .* from the request/")


def test_why_a_pod_waits_and_why_somebody_may_not(page: Any, dashboard: Dashboard, server: Server) -> None:
    containers = [{"name": "main", "image": "none", "resources": {"requests": {"cpu": "100"}}}]
    server.make(_PODS, {"metadata": {"name": "large"}, "spec": {"containers": containers}})
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/object/pods/default/large")
    page.wait_for_selector(".why .finding >> text=The only node will not do.")
    page.wait_for_selector(".why .finding a >> text=one")
    page.click("text=Log out")
    page.wait_for_selector("#token")  # or its own navigation would meet the next one
    log_in(page, dashboard, _token(server, "looker", "view", cluster=True))
    page.goto(f"{dashboard.origin}/#/object/deployments.apps/default/web")
    page.click("text=Why not?")
    page.wait_for_selector("dialog .finding")
    page.wait_for_selector(
        "dialog .command >> text=kubectl auth can-i patch deployments.apps --subresource=scale -n default"
    )


def test_the_map_of_a_namespace(page: Any, dashboard: Dashboard, server: Server) -> None:
    _pod(server, "mapped")
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/map/default")
    page.wait_for_selector(".map .box >> text=mapped")
    page.wait_for_selector(".map .box >> text=one")
    page.wait_for_selector(".map path", state="attached")
    server.call("DELETE", f"{_PODS}/mapped")
    page.wait_for_selector(".map .box >> text=mapped", state="detached")
