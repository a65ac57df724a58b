"""Every view with hostile objects, in light and dark, English and Japanese, wide and narrow, with a picture of each.

The pictures are below pytest's folder for temporary files; DASHBOARD_PICTURES=DIR keeps them elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers import TOKEN, Server
from tests.servers import running as running_server
from tests.support import until
from tests.tools.dashboard.kubelet import playing
from tests.tools.dashboard.running import Dashboard

pytestmark = pytest.mark.slow
_EVIL = "<img src=x onerror=\"document.title='caught'\"><svg onload=\"document.title='caught'\"></svg>javascript:alert(1)"
_ESCAPES = "\x1b]0;caught\x07\x1b[2J\x1b]52;c;Y2F1Z2h0\x07\u202egnp.exe"
_FEDERATED = "/apis/types.kubefed.io/v1beta1/namespaces/default/federatedconfigmaps"
# Of each view: its place, what tells that it is there, and whether it has the evil text.
_VIEWS = {
    "cluster": ("#/cluster", ".components li", True),
    "list": ("#/list/pods", ".space .cell >> text=web-a", False),
    "events": ("#/list/events", ".space .cell >> text=Evil", True),
    "empty": ("#/list/jobs.batch", ".empty:not([hidden])", False),
    "object": ("#/object/pods/default/web-a", ".events .warning", True),
    "deployment": ("#/object/deployments.apps/default/web", ".summary dd", False),
    "edit": ("#/edit/deployments.apps/default/web", ".about li", False),
    "logs": ("#/logs/default/web-a,web-b", ".log .from", True),
    "shell": ("#/shell/default/web-a", ".terminal .cursor", False),
    "map": ("#/map/default", ".map .box", False),
    "trace": ("#/trace/default/web-a", ".ten [data-step='2'].good", False),
    "rights": ("#/access/default", ".why .finding", False),
    "federation": ("#/federation", ".matrix .pill.bad", True),
    "clusters": ("#/clusters", ".node .good", False),
}


def _federation(server: Server) -> None:
    """Make the kinds of a federation, a cluster that is ready, and an object that is not well in it."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    for group, plural, kind in (
        ("core.kubefed.io", "kubefedclusters", "KubeFedCluster"),
        ("types.kubefed.io", "federatedconfigmaps", "FederatedConfigMap"),
    ):
        version = {
            "name": "v1beta1",
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": anything},
        }
        spec = {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [version],
        }
        body = {"metadata": {"name": f"{plural}.{group}"}, "spec": spec}
        server.make("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body)
    clusters = "/apis/core.kubefed.io/v1beta1/namespaces/default/kubefedclusters"
    until(lambda: server.call("GET", clusters)[0] == 200 and server.call("GET", _FEDERATED)[0] == 200)
    conditions = [{"type": "Ready", "status": "True"}]
    east = {
        "apiVersion": "core.kubefed.io/v1beta1", "kind": "KubeFedCluster", "metadata": {"name": "east"},
        "spec": {"apiEndpoint": "https://east.example"}, "status": {"conditions": conditions},
    }  # fmt: skip
    server.make(clusters, east)
    status = {
        "conditions": [{"type": "Propagation", "status": "False", "reason": "CheckClusters"}],
        "clusters": [{"name": "east", "status": "CreationFailed"}, {"name": _EVIL}],
    }
    federated = {
        "apiVersion": "types.kubefed.io/v1beta1", "kind": "FederatedConfigMap", "metadata": {"name": "settings"}, "status": status,
    }  # fmt: skip
    server.make(_FEDERATED, federated)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with (
        running_server(tmp_path_factory.mktemp("server")) as server,
        playing(server, "one", tmp_path_factory.mktemp("kubelet")),
    ):
        annotations = {"evil": _EVIL, "escapes": _ESCAPES}
        for name in ("web-a", "web-b"):
            spec = {"nodeName": "one", "containers": [{"name": "main", "image": "none"}]}
            body = {
                "metadata": {"name": name, "labels": {"app": "web"}, "annotations": annotations},
                "spec": spec,
            }
            server.make("/api/v1/namespaces/default/pods", body)
        uid = server.call("GET", "/api/v1/namespaces/default/pods/web-a")[1]["metadata"]["uid"]
        about = {"kind": "Pod", "name": "web-a", "namespace": "default", "uid": uid}
        event = {
            "metadata": {"name": "evil"},
            "involvedObject": about,
            "reason": "Evil",
            "message": _EVIL + _ESCAPES,
            "type": "Warning",
        }
        server.make("/api/v1/namespaces/default/events", event)
        template = {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "main", "image": "none"}]},
        }
        rollout = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template}
        server.make(
            "/apis/apps/v1/namespaces/default/deployments",
            {"metadata": {"name": "web"}, "spec": rollout},
        )
        etcd = {
            "metadata": {"name": "etcd-one", "labels": {"component": "etcd"}},
            "spec": {"containers": [{"name": "etcd", "image": "none"}]},
        }
        server.make("/api/v1/namespaces/kube-system/pods", etcd)
        _federation(server)
        yield server


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = Path(os.environ.get("DASHBOARD_PICTURES") or tmp_path_factory.mktemp("pictures"))
    directory.mkdir(exist_ok=True)
    return directory


@pytest.mark.parametrize(
    ("scheme", "language", "width"),
    [("dark", "en", 1280), ("light", "ja", 1280), ("dark", "en", 390), ("light", "en", 800)],
)
def test_every_view(
    browser: Any, dashboard: Dashboard, pictures: Path, scheme: str, language: str, width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.set_default_timeout(120_000)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "console",
        lambda message: problems.append(message.text) if "Security Policy" in message.text else None,
    )
    page.goto(f"{dashboard.origin}/?lang={language}")
    page.fill("#token", TOKEN)
    page.keyboard.press("Enter")
    page.wait_for_selector("#search")
    for name, (place, sign, evil) in _VIEWS.items():
        page.goto(f"{dashboard.origin}/?lang={language}{place}")
        page.wait_for_selector(sign)
        if evil:
            page.wait_for_function(
                "() => /onerror|<b>hello/.test(document.querySelector('main').textContent)"
            )
        assert not page.evaluate("/[\\u202a-\\u202e]/.test(document.body.textContent)"), name
        page.screenshot(path=pictures / f"{name}-{scheme}-{language}-{width}.png")
        # Nothing of the page is beyond the screen, and nothing that an object says has become an element.
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert page.locator("main img, main script, main svg[onload]").count() == 0, name
        assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]
        assert page.title().endswith(" · Pybernetes"), name
    assert TOKEN not in page.content() and problems == []
    context.close()


def test_the_menu_of_a_narrow_screen(page: Any, dashboard: Dashboard) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(dashboard.origin)
    page.fill("#token", TOKEN)
    page.keyboard.press("Enter")
    page.wait_for_selector("#search")
    assert not page.is_visible("nav")
    page.click(".opener")
    page.click("nav a >> text=Deployments")
    page.wait_for_selector("h1 >> text=Deployments")
    assert not page.is_visible("nav")


def test_what_an_object_is_related_to(page: Any, dashboard: Dashboard) -> None:
    page.goto(dashboard.origin)
    volumes = [
        {"configMap": {"name": "settings"}}, {"secret": {"secretName": "keys"}}, {"persistentVolumeClaim": {"claimName": "data"}},
        {"projected": {"sources": [{"configMap": {"name": "settings"}}, {"secret": {"name": "more"}}]}}, {"emptyDir": {}},
    ]  # fmt: skip
    env = [
        {"valueFrom": {"secretKeyRef": {"name": "keys"}}},
        {"value": "x"},
        {"valueFrom": {"configMapKeyRef": {"name": 5}}},
    ]
    container = {"envFrom": [{"configMapRef": {"name": "env"}}], "env": env}
    spec = {
        "serviceAccountName": "robot",
        "volumes": volumes,
        "containers": [container],
        "imagePullSecrets": [{"name": "pull"}],
    }
    script = 'async ([resource, object]) => (await import("/related.js")).references(resource, object)'
    expected = [
        ("serviceaccounts", "robot"), ("configmaps", "settings"), ("secrets", "keys"), ("persistentvolumeclaims", "data"),
        ("secrets", "more"), ("configmaps", "env"), ("secrets", "pull"),
    ]  # fmt: skip
    metadata = {"namespace": "n", "name": "x"}
    for resource, own in (
        ("pods", spec), ("deployments.apps", {"template": {"spec": spec}}),
        ("cronjobs.batch", {"jobTemplate": {"spec": {"template": {"spec": spec}}}}),
    ):  # fmt: skip
        references = page.evaluate(script, [resource, {"metadata": metadata, "spec": own}])
        assert references == [[kind, "n", name] for kind, name in expected]
    assert page.evaluate(script, ["configmaps", {"metadata": metadata}]) == []


def test_answers_in_words_are_told_in_japanese(page: Any, dashboard: Dashboard) -> None:
    page.goto(dashboard.origin)
    script = """async (texts) => {
      const { speak, told } = await import("/words.js");
      await speak("ja");
      return texts.map(told);
    }"""
    expected = {
        "None of the 3 nodes will do.": "3 個のノードのどれにも配置できません。",
        "Container main: its image cannot be pulled (ErrImagePull).": "コンテナ main: イメージを取得できません（ErrImagePull）。",
        "Container a was restarted 2 times; the last time it had ended with code 137: killed (SIGKILL).": (
            "コンテナ a は 2 回再起動されました。前回の終了: コード 137、強制終了 (SIGKILL)。"
        ),
        # More of it is known than how it begins.
        "Pod web is near, but has no app.": "Pod web は近いですが、no app です。",
        "ClusterRole view in the whole cluster:": "クラスター全体での ClusterRole view:",
        # What nobody has translated stays as it is, however long.
        "Insufficient cpu": "Insufficient cpu",
        "Pod " * 2000: "Pod " * 2000,
    }
    assert page.evaluate(script, list(expected)) == list(expected.values())
