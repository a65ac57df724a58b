"""The dashboard in a real browser: log-in, lists that are live, search, an object's page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.servers import TOKEN, Server
from tests.servers import running as running_server
from tests.tools.dashboard.conftest import log_in
from tests.tools.dashboard.running import Dashboard, running

pytestmark = pytest.mark.slow
# What an object may be named and say: markup must stay text.
_EVIL = "<img src=x onerror=\"document.title='caught'\"><script>document.title='caught'</script>"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("server")) as server:
        for number in (*range(300), 777):
            config = {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {
                    "name": f"settings-{number:04}",
                    "labels": {"tier": "odd" if number % 2 else "even"},
                },
                "data": {"evil": _EVIL},
            }
            assert server.call("POST", "/api/v1/namespaces/default/configmaps", config)[0] == 201
        evil = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": "evil"},
            "involvedObject": {"kind": "ConfigMap", "name": "settings-0001", "namespace": "default"},
            "reason": "Attack",
            "message": _EVIL,
            "type": "Warning",
        }
        uid = server.call("GET", "/api/v1/namespaces/default/configmaps/settings-0001")[1]["metadata"]["uid"]
        evil["involvedObject"]["uid"] = uid  # type: ignore[index]
        status, answer = server.call("POST", "/api/v1/namespaces/default/events", evil)
        assert status == 201, answer
        yield server


def test_the_link_logs_in_once(page: Any, browser: Any, dashboard: Dashboard) -> None:
    page.goto(dashboard.link)
    page.wait_for_selector("text=admin @ test")
    assert "code" not in page.url
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]
    page.reload()
    page.wait_for_selector("text=admin @ test")
    other = browser.new_context().new_page()
    other.set_default_timeout(120_000)
    other.goto(dashboard.link)
    other.wait_for_selector("text=the link was used already")
    other.context.close()


def test_a_list_is_live_and_has_only_the_rows_that_are_seen(
    page: Any, dashboard: Dashboard, server: Server
) -> None:
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/list/configmaps?ns=default")
    page.wait_for_selector(".count >> text=/^30\\d$/")
    assert page.locator(".space > .row").count() < 100
    fresh = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "aaa-new"}}
    server.call("POST", "/api/v1/namespaces/default/configmaps", fresh)
    page.fill("#filter", "aaa-new")
    page.wait_for_selector(".space .cell >> text=aaa-new")
    assert "q=aaa-new" in page.url
    server.call("DELETE", "/api/v1/namespaces/default/configmaps/aaa-new")
    page.wait_for_selector(".space .cell >> text=aaa-new", state="detached")


def test_search_finds_by_label_and_leads_to_the_object(page: Any, dashboard: Dashboard) -> None:
    log_in(page, dashboard)
    page.wait_for_selector(".table")
    page.keyboard.press("/")
    page.keyboard.type("tier=odd 0777")
    # While the watches of all kinds begin, the page asks again by itself.
    page.wait_for_selector(".hits b >> text=settings-0777")
    page.wait_for_selector(".hits small >> text=label tier=odd")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1 b >> text=settings-0777")
    page.wait_for_selector(".label >> text=tier=odd")
    page.go_back()
    page.wait_for_selector(".table")


def test_what_objects_contain_stays_text(page: Any, dashboard: Dashboard) -> None:
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/object/configmaps/default/settings-0001")
    page.wait_for_selector(".events .warning")
    assert "onerror" in page.inner_text(".events") and "onerror" in page.inner_text(".yaml")
    page.goto(f"{dashboard.origin}/#/list/events")
    page.wait_for_selector(".space .cell >> text=Attack")
    assert page.title() != "caught"
    assert page.locator("main img, main script").count() == 0


def test_a_dropped_connection_comes_back(page: Any, dashboard: Dashboard, server: Server) -> None:
    sockets: list[Any] = []

    def route(socket: Any) -> None:
        socket.connect_to_server()
        sockets.append(socket)

    page.route_web_socket(re.compile("/stream$"), route)
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/list/configmaps?ns=default&q=meanwhile")
    page.wait_for_selector(".count >> text=/^0 of 3/")
    sockets[0].close()
    fresh = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "meanwhile"}}
    server.call("POST", "/api/v1/namespaces/default/configmaps", fresh)
    page.wait_for_selector(".space .cell >> text=meanwhile")
    page.wait_for_selector(".light.live")
    assert len(sockets) == 2


def test_a_change_is_shown_before_it_is_saved_and_a_refused_one_is_not(
    page: Any, dashboard: Dashboard, server: Server
) -> None:
    path = "/api/v1/namespaces/default/configmaps/settings-0042"
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/object/configmaps/default/settings-0042")
    page.wait_for_selector(".label")
    page.keyboard.press("e")
    page.wait_for_selector("#yaml")
    page.wait_for_function("() => document.getElementById('yaml').value.includes('settings-0042')")
    text = page.input_value("#yaml")
    # What the schema says of the field at the cursor.
    page.evaluate("(at) => document.getElementById('yaml').setSelectionRange(at, at)", text.index("tier:"))
    page.press("#yaml", "ArrowRight")
    page.wait_for_selector(".about b >> text=metadata.labels.tier")
    assert page.is_disabled("#save")
    page.fill("#yaml", text.replace("tier: even", "tier: 'not a/label!'"))
    page.click("#check")
    page.wait_for_selector(".problem >> text=Invalid value")
    assert page.is_disabled("#save")
    page.fill("#yaml", text.replace("tier: even", "tier: prime"))
    page.click("#check")
    page.wait_for_selector("#changes .good >> text=tier: prime")
    page.wait_for_selector("#changes .bad >> text=tier: even")
    assert server.call("GET", path)[1]["metadata"]["labels"] == {"tier": "even"}
    page.click("#save")
    page.wait_for_selector(".label >> text=tier=prime")
    assert server.call("GET", path)[1]["metadata"]["labels"] == {"tier": "prime"}


def test_yaml_that_is_shown_says_what_the_object_says(page: Any, dashboard: Dashboard) -> None:
    texts = [
        "", "a", "true", "No", "null", "~", "1", "1.5", "1e3", "0x1f", "2024-01-01", "a: b", "a:", "a #b", "- a", "[a]", "{a}", "*a",
        "&a", "!a", "%a", "@a", "`a`", '"', "'", "a\nb", "a\nb\n", "a\n\n", "\na", " a", "a ", "a\n b\n  c\n", "a\tb\n", "a\r\nb", "\u2028", "a\n\u2028b", "\u202eb", "a\n\u202eb", "\u200f", "a\n\u2066b\n",
        "\u0085", "ü\nü", "日本語", "日本\n語", "\x00", "\x7f", "a\\b", "<<", "=", ".inf", "12:30:45", "y", "a, b", "a  ", "a\n   \nb", "😀\n",
    ]  # fmt: skip
    value = {
        "texts": {f"k{number}": text for number, text in enumerate(texts)},
        "keys": dict.fromkeys(texts, 1),
        "list": texts,
        "others": [1, 1.5, True, False, None, [], {}, [[]], [{}], [[1, [2]], {"a": [{"b": 1, "c": [1]}]}], {"a": {"b": {}}}],
    }  # fmt: skip
    page.goto(dashboard.origin)
    shown = page.evaluate('async (value) => (await import("/text.js")).yaml(value)', value)
    assert yaml.safe_load(shown) == value


def test_differences(page: Any, dashboard: Dashboard) -> None:
    page.goto(dashboard.origin)
    script = 'async ([one, other]) => (await import("/diff.js")).difference(one, other)'
    for before, after, lines in (
        ("a\nb\nc", "a\nx\nc", [" a", "-b", "+x", " c"]),
        ("a", "a", [" a"]),
        ("a\nb", "b", ["-a", " b"]),
        ("b", "a\nb", ["+a", " b"]),
        ("a\nb\nc\nd", "c\nd\na\nb", None),
    ):
        pairs = page.evaluate(script, [before, after])
        assert [line for sign, line in pairs if sign != "+"] == before.split("\n")
        assert [line for sign, line in pairs if sign != "-"] == after.split("\n")
        assert lines is None or ["".join(pair) for pair in pairs] == lines


def test_japanese(page: Any, dashboard: Dashboard) -> None:
    page.goto(f"{dashboard.origin}/?lang=ja")
    page.fill("#token", TOKEN)
    page.click("button >> text=ログイン")
    page.wait_for_selector("button >> text=ログアウト")
    assert page.get_attribute("html", "lang") == "ja"


def test_the_cluster_with_its_nodes_health_and_events(
    page: Any, dashboard: Dashboard, server: Server
) -> None:
    conditions = [{"type": "Ready", "status": "True"}]
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    node = {
        "metadata": {"name": "worker"},
        "status": {"allocatable": allocatable, "capacity": allocatable, "conditions": conditions},
    }
    assert server.call("POST", "/api/v1/nodes", node)[0] == 201
    log_in(page, dashboard)
    page.wait_for_selector(".table")
    page.keyboard.press("C")
    page.wait_for_selector("text=/ready: \\d+ checks passed/")
    page.wait_for_selector(".node >> text=0m of 4 asked for")
    page.wait_for_selector(".events >> text=Attack")
    container = {
        "name": "main", "image": "none",
        "resources": {"requests": {"cpu": "1500m", "memory": "2Gi"}},
    }  # fmt: skip
    pod = {"metadata": {"name": "busy"}, "spec": {"nodeName": "worker", "containers": [container]}}
    assert server.call("POST", "/api/v1/namespaces/default/pods", pod)[0] == 201
    page.wait_for_selector(".node >> text=1.5 of 4 asked for")
    page.wait_for_selector("text=Nodes: 1, pods: 1; CPU 1.5 of 4, memory 2.0 GiB of 8.0 GiB asked for")
    assert page.title() == "Cluster test · Pybernetes"


def test_several_clusters_of_a_kubeconfig(page: Any, server: Server, tmp_path: Path) -> None:
    config = yaml.safe_load(server.kubeconfig.read_text())
    config["contexts"] += [
        {"name": "second", "context": {"cluster": "test", "user": "admin", "namespace": "kube-system"}},
        {"name": "gone", "context": {"cluster": "gone", "user": "admin"}},
    ]
    config["clusters"].append({"name": "gone", "cluster": {"server": "https://127.0.0.1:1"}})
    kubeconfig = tmp_path / "several"
    kubeconfig.write_text(yaml.safe_dump(config))
    with running(server, kubeconfig) as dashboard:
        page.goto(dashboard.link)
        page.wait_for_selector(".table")
        page.select_option("#context", label="All of them")
        page.wait_for_selector(".node:has-text('second') >> text=/ready: \\d+ checks passed/")
        page.wait_for_selector(".node:has-text('gone') >> text=cannot be reached")
        page.click(".node a >> text=second")
        page.wait_for_selector("h1 >> text=Cluster")
        page.wait_for_selector("text=/ready: \\d+ checks passed/")
        assert page.input_value("#context") == "second"
        assert "context=second" in page.url
        page.goto(f"{dashboard.origin}/?context=second#/list/configmaps?ns=default")
        page.wait_for_selector(".count >> text=/^3/")


def test_places_in_yaml_and_who_wrote_what(page: Any, dashboard: Dashboard) -> None:
    page.goto(dashboard.origin)
    text = (
        "a: 1\nspec:\n  list:\n  - name: x\n    deep:\n      - y: 2\n        z: |\n          w\n  last: 3\n"
    )
    places = page.evaluate(
        """async (text) => {
          const { pathAt } = await import("/schema_help.js");
          return text.split("\\n").map((_, line) => pathAt(text, line).join("."));
        }""",
        text,
    )
    assert places[:9] == [
        "a", "spec", "spec.list", "spec.list.name", "spec.list.deep", "spec.list.deep.y", "spec.list.deep.z", "spec.list.deep.z",
        "spec.last",
    ]  # fmt: skip
    fields = {
        "f:spec": {"f:ports": {".": {}, 'k:{"port":80}': {"f:name": {}}}, "f:x": {}},
        "f:metadata": {"f:finalizers": {'v:"a"': {}}},
    }
    managed = [
        {"manager": "one", "operation": "Apply", "time": "2026", "fieldsV1": fields},
        {"manager": "two", "subresource": "status"},
    ]
    rows = page.evaluate('async (fields) => (await import("/managed_fields.js")).writers(fields)', managed)
    assert rows == [
        ['metadata.finalizers["a"]', "one", "Apply", "2026"],
        ["spec.ports[port=80].name", "one", "Apply", "2026"],
        ["spec.x", "one", "Apply", "2026"],
    ]


def test_the_keyboard_goes_to_kinds_and_rows(page: Any, dashboard: Dashboard) -> None:
    log_in(page, dashboard)
    page.wait_for_selector(".table")
    page.keyboard.press(":")
    page.keyboard.type("nothing")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog .problem >> text=This cluster has no nothing.")
    page.fill("#palette", "cm default")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1 >> text=ConfigMaps in default")
    page.wait_for_selector(".space .cell >> text=settings-0001")
    page.focus(".rows")
    page.keyboard.press("j")
    page.keyboard.press("y")
    page.wait_for_function("() => document.activeElement.className === 'yaml'")
    page.keyboard.press("?")
    page.wait_for_selector("dialog kbd >> text=Space *")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.keyboard.press("Escape")
    page.wait_for_selector(".table")
