"""What pages of objects and lists show, and how people find their way between them."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.servers import Server
from tests.servers import running as running_server
from tests.support import until
from tests.tools.dashboard.conftest import log_in
from tests.tools.dashboard.running import Dashboard

pytestmark = pytest.mark.slow
_PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("server")) as server:
        server.make("/api/v1/namespaces", {"metadata": {"name": "shop"}})
        resources = {"requests": {"cpu": "50m"}, "limits": {"memory": "64Mi"}}
        container = {
            "name": "main",
            "image": "shop/web:1",
            "ports": [{"containerPort": 80}],
            "resources": resources,
        }
        for name in ("web-a", "web-b"):
            spec = {"nodeName": "one", "containers": [container]}
            server.make(_PODS, {"metadata": {"name": name, "labels": {"app": "web"}}, "spec": spec})
        other = {"metadata": {"name": "till"}, "spec": {"containers": [container]}}
        server.make("/api/v1/namespaces/shop/pods", other)
        service = {"metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}}
        server.make("/api/v1/namespaces/default/services", service)
        yield server


def _status(server: Server, name: str, status: Any) -> None:
    headers = {"Content-Type": "application/merge-patch+json"}
    code, answer = server.call("PATCH", f"{_PODS}/{name}/status", {"status": status}, headers=headers)
    assert code == 200, answer


def test_a_namespace_is_chosen_and_kept(page: Any, dashboard: Dashboard) -> None:
    log_in(page, dashboard)
    page.wait_for_selector(".space .cell >> text=till")
    page.wait_for_selector(".head >> text=Namespace")
    page.wait_for_selector("select.namespace option[value=shop]", state="attached")
    page.select_option("select.namespace", "shop")
    page.wait_for_selector(".count >> text=/^1$/")
    assert page.locator(".head >> text=Namespace").count() == 0
    page.wait_for_selector(".command >> text=kubectl get pods -n shop")
    page.click("nav a >> text=Services")
    page.wait_for_selector(".empty >> text=There are no Services in shop.")
    page.select_option("select.namespace", "")
    page.wait_for_selector(".space .cell >> text=web")
    page.go_back()
    page.wait_for_selector(".empty >> text=There are no Services in shop.")


def test_all_columns_of_the_server(page: Any, dashboard: Dashboard) -> None:
    log_in(page, dashboard)
    page.wait_for_selector(".space .row")
    assert page.locator(".head >> text=IP").count() == 0
    page.keyboard.press("W")
    page.wait_for_selector(".head >> text=IP")
    page.wait_for_selector(".command >> text=-o wide")
    page.reload()
    page.wait_for_selector(".head >> text=IP")  # the address has it
    # A name is a link, for a tab of its own; the list stays as it is.
    with page.context.expect_page() as opened:
        page.click(".space a >> text=web-a", modifiers=["Control"])
    opened.value.wait_for_selector("h1 >> text=Pod web-a")
    assert "#/list/pods" in page.url
    opened.value.close()


def test_the_summary_of_a_pod(page: Any, dashboard: Dashboard, server: Server) -> None:
    ended = {"exitCode": 3, "reason": "Error", "startedAt": None, "finishedAt": None}
    waiting = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}
    one = {
        "name": "main", "image": "shop/web:1", "imageID": "", "ready": False, "restartCount": 4, "state": waiting,
        "lastState": {"terminated": ended},
    }  # fmt: skip
    conditions = [
        {"type": "PodScheduled", "status": "True"},
        {"type": "Ready", "status": "False", "reason": "ContainersNotReady"},
        {"type": "DisruptionTarget", "status": "True", "message": "<b>away</b>"},
    ]
    _status(server, "web-a", {"phase": "Running", "conditions": conditions, "containerStatuses": [one]})
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/object/pods/default/web-a")
    page.wait_for_selector(".summary .bad >> text=CrashLoopBackOff")
    page.wait_for_selector(".matrix .bad >> text=waiting (CrashLoopBackOff) last ended with 3 (Error)")
    page.wait_for_selector(".matrix >> text=/cpu 50m/")
    page.wait_for_selector(".conditions .pill.good >> text=PodScheduled True")
    page.wait_for_selector(".conditions .told >> text=Ready False ContainersNotReady")
    page.wait_for_selector(".conditions .told >> text=DisruptionTarget True <b>away</b>")
    page.click(".matrix a >> text=Logs")
    page.wait_for_selector(".command >> text=kubectl logs -n default web-a -c main -f")


def test_the_pods_of_a_service_and_of_a_node(page: Any, dashboard: Dashboard, server: Server) -> None:
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/object/services/default/web")
    page.wait_for_selector(".summary >> text=80/TCP")
    page.wait_for_selector(".panel .matrix a >> text=web-b")
    server.make(
        _PODS,
        {
            "metadata": {"name": "web-c", "labels": {"app": "web"}},
            "spec": {"containers": [{"name": "main", "image": "none"}]},
        },
    )
    page.wait_for_selector(".panel .matrix a >> text=web-c")
    page.click("text=as a list")
    page.wait_for_selector(".count >> text=/^3$/")
    page.wait_for_selector(".command >> text=kubectl get pods -n default -l app=web")
    page.click(".bar a >> text=app=web")  # away with it
    page.wait_for_selector(".command >> text=/get pods -n default$/")
    assert server.call("DELETE", f"{_PODS}/web-c?gracePeriodSeconds=0")[0] == 200


def test_selectors_of_pods(page: Any, dashboard: Dashboard) -> None:
    page.goto(dashboard.origin)
    script = 'async ([resource, spec]) => (await import("/related.js")).selectorOf(resource, { spec })'
    expressions = [
        {"key": "a", "operator": "In", "values": ["x", "y"]}, {"key": "b", "operator": "NotIn", "values": ["z"]},
        {"key": "c", "operator": "Exists"}, {"key": "d", "operator": "DoesNotExist"},
    ]  # fmt: skip
    for resource, selector, text in (
        ("services", {"app": "web", "tier": "1"}, "app=web,tier=1"),
        ("services", None, ""),
        ("deployments.apps", {"matchLabels": {"app": "web"}, "matchExpressions": expressions}, "app=web,a in (x,y),b notin (z),c,!d"),
        ("networkpolicies.networking.k8s.io", {"app": "web"}, ""),
    ):  # fmt: skip
        assert page.evaluate(script, [resource, {"selector": selector} if selector else {}]) == text


def test_a_secret_is_shown_when_it_is_asked_for(page: Any, dashboard: Dashboard, server: Server) -> None:
    text, picture = "<b>hidden</b>", base64.b64encode(b"\xff\xd8\xff").decode()
    server.make(
        "/api/v1/namespaces/default/secrets",
        {"metadata": {"name": "keys"}, "stringData": {"password": text}, "data": {"picture": picture}},
    )
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/object/secrets/default/keys")
    page.wait_for_selector(".contents >> text=13 bytes")
    assert text not in page.inner_text(".contents")
    page.click(".contents button >> nth=0")
    page.wait_for_selector(f".contents >> text={text}")
    page.click(".contents button >> nth=0")
    page.wait_for_selector(".contents >> text=not a text")


def test_what_is_not_there(page: Any, dashboard: Dashboard) -> None:
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/object/pods/default/nothing")
    page.wait_for_selector(".problem >> text=There is no Pod nothing.")
    assert page.locator("main .panel:visible, main button:visible").count() == 0
    # Addresses that nobody made: the names of what every JavaScript object has, half an escape, too few parts.
    for place in (
        "constructor",
        "toString/a",
        "__proto__",
        "%",
        "list/%E3%81",
        "object",
        "list/constructor",
        "object/pods",
    ):
        page.goto(f"{dashboard.origin}/#/{place}")
        page.goto(f"{dashboard.origin}/#/list/namespaces")
        page.wait_for_selector(".space .cell >> text=kube-system")
    page.keyboard.press(":")
    page.fill("#palette", "constructor")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog .problem >> text=constructor")
    # A question about one place is not asked at another.
    page.go_back()
    page.wait_for_selector("dialog", state="detached")


_BOTH = "() => /colour: (green|red)/.test(document.getElementById('yaml').value)"


def test_what_others_change_meanwhile_is_kept(page: Any, dashboard: Dashboard, server: Server) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    server.make(
        path,
        {
            "metadata": {"name": "paint"},
            "data": {"colour": "blue", "size": "1", "shape": "round", "weight": "5"},
        },
    )

    def change(data: dict[str, str]) -> None:
        headers = {"Content-Type": "application/merge-patch+json"}
        assert server.call("PATCH", f"{path}/paint", {"data": data}, headers=headers)[0] == 200

    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/edit/configmaps/default/paint")
    page.wait_for_function("() => document.getElementById('yaml').value.includes('paint')")
    page.fill("#yaml", page.input_value("#yaml").replace('size: "1"', 'size: "2"'))
    change({"colour": "green"})
    page.click("#check")
    page.wait_for_selector(".wait >> text=your changes are on top of that")
    # Both changes are in the text, and what is shown is only what this person changes.
    assert "colour: green" in page.input_value("#yaml") and 'size: "2"' in page.input_value("#yaml")
    assert re.findall(r"^[-+] .*", page.inner_text("#changes"), re.MULTILINE) == [
        '-   size: "1"',
        '+   size: "2"',
    ]
    # Between the look and saving: it is shown again, and not saved unseen.
    change({"size": "9", "weight": "6"})
    page.click("#save")
    page.wait_for_selector(".wait >> text=Others have changed the same at 1 places")
    assert server.call("GET", f"{path}/paint")[1]["data"]["size"] == "9"
    assert page.is_enabled("#save") and 'weight: "6"' in page.input_value("#yaml")
    page.click("#save")
    page.wait_for_selector("h1 >> text=ConfigMap paint")
    expected = {"colour": "green", "size": "2", "shape": "round", "weight": "6"}
    # The page is left at once; that the change has arrived is seen at the server.
    until(lambda: server.call("GET", f"{path}/paint")[1]["data"] == expected)


def test_texts_of_two_people(page: Any, dashboard: Dashboard) -> None:
    page.goto(dashboard.origin)
    script = 'async ([base, mine, theirs]) => { const { text, clashes } = (await import("/merge.js")).merged(base, mine, theirs); return [text, clashes]; }'
    for base, mine, theirs, text, clashes in (
        ("abc", "abc", "abc", "abc", 0),
        ("abc", "axc", "abc", "axc", 0),
        ("abc", "abc", "axc", "axc", 0),
        ("abcd", "xbcd", "abcy", "xbcy", 0),
        ("abc", "axc", "ayc", "axc", 1),
        ("abc", "axc", "axc", "axc", 0),
        ("abc", "ac", "abcd", "acd", 0),
        ("ab", "axb", "ayb", "axb", 1),
        ("abcdef", "aef", "abXdef", "aef", 1),
        ("abcd", "aXcd", "aYZd", "aXZd", 1),
        ("abc", "", "abcd", "d", 0),
    ):  # fmt: skip
        lines = ["\n".join(one) for one in (base, mine, theirs)]
        merged, count = page.evaluate(script, lines)
        assert (merged.replace("\n", ""), count) == (text, clashes), (base, mine, theirs)
