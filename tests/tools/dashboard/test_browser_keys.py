"""With keys only, and for screen readers: the way through the pages, where the focus is, and what the browser tells of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.servers import TOKEN, Server
from tests.tools.dashboard.conftest import log_in
from tests.tools.dashboard.kubelet import server_with_pods
from tests.tools.dashboard.running import Dashboard

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server_with_pods(tmp_path_factory, "web-a", "web-b") as server:
        yield server


def test_everything_with_keys_only(page: Any, dashboard: Dashboard) -> None:
    press, write, see = page.keyboard.press, page.keyboard.type, page.wait_for_selector
    page.goto(dashboard.origin)
    see("#token:focus-visible")
    write(TOKEN)
    press("Enter")
    see(".rows:focus .chosen")  # the list of pods
    press("/")
    see("#search:focus-visible")
    write("web-a kind:pods")
    see(".hits b >> text=web-a")
    press("Enter")
    see("h1 >> text=Pod web-a")
    see("#view:focus")
    press("l")
    see(".log:focus-visible >> text=web-a goes on")
    press("Escape")
    see("h1 >> text=Pod web-a")
    press("s")
    see(".terminal:focus-within .cursor")
    write("echo $((6*7))\n")
    see(".line >> text=/^42$/")
    press("Escape")  # belongs to the shell
    press("Control+F6")
    see("#view:focus")
    see("h1 >> text=Shell in web-a")
    press("Escape")
    see("h1 >> text=Pod web-a")
    press(":")
    see("dialog #palette:focus-visible")
    write("po default")
    press("Enter")
    see("h1 >> text=Pods in default")
    see(".rows:focus .chosen >> text=web-a")
    press("j")
    see(".rows:focus .chosen >> text=web-b")
    press("y")
    see("pre.yaml:focus-visible >> text=name: web-b")
    press("Escape")
    see(".rows:focus .chosen")
    press("?")
    see("dialog >> text=out of the terminal")
    press("Escape")
    see("dialog", state="detached")


def test_the_focus_is_seen_wherever_it_goes(page: Any, dashboard: Dashboard) -> None:
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/object/pods/default/web-a")
    page.wait_for_selector(".actions button >> text=Delete")
    been = []
    for _ in range(12):
        page.keyboard.press("Tab")
        been.append(
            page.evaluate(
                "(({ tagName, textContent }, { outlineStyle }) => [tagName, textContent, outlineStyle])"
                "(document.activeElement, getComputedStyle(document.activeElement))"
            )
        )
    assert [what for what in been if what[2] == "none" or what[0] == "BODY"] == []
    assert {"Logs", "Shell", "Delete"} <= {text for _, text, _ in been}


def test_what_a_screen_reader_is_told(page: Any, dashboard: Dashboard) -> None:
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/list/pods?ns=default&sort=Name")
    page.wait_for_selector(".chosen >> text=web-a")
    page.keyboard.press(" ")
    page.wait_for_selector(".actions >> text=1 selected")
    told = page.locator("body").aria_snapshot()
    for line in (
        "- banner:", '- combobox "Search everything"', '- navigation "Kinds":', '- main "Pods in default":', '- grid "Pods":',
        '- columnheader "Name', '- checkbox "default/web-a" [checked]', '- gridcell "web-b"', "- status",
    ):  # fmt: skip
        assert line in told, told
    rows = page.locator(".rows")
    assert rows.get_attribute("aria-rowcount") == "3"  # with the head
    assert (
        page.locator(f"#{rows.get_attribute('aria-activedescendant')}").get_attribute("aria-selected")
        == "true"
    )
    page.keyboard.press("Delete")
    page.wait_for_selector("dialog")
    assert 'dialog "Delete: web-a"' in page.locator("body").aria_snapshot()
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.keyboard.press("/")
    page.keyboard.type("web")
    page.wait_for_selector("#hit-0")
    told = page.locator("header.top").aria_snapshot()
    assert '- listbox "Search everything":' in told and "- option" in told and "- status: " in told, told
    page.keyboard.press("ArrowDown")
    assert page.get_attribute("#search", "aria-activedescendant") == "hit-1"
    assert page.get_attribute("#hit-1", "aria-selected") == "true"


@pytest.mark.parametrize(
    ("place", "sign"),
    [
        ("list/pods", ".space .row"),
        ("object/pods/default/web-a", ".actions button"),
        ("edit/pods/default/web-a", ".about li"),
        ("logs/default/web-a,web-b", ".log .from"),
        ("shell/default/web-a", ".terminal .cursor"),
        ("map/default", ".map .box"),
        ("trace/default/web-a", ".ten .good"),
        ("cluster", ".node"),
        ("access/default", ".why .finding"),
    ],
)
def test_whatever_takes_the_focus_has_a_name(page: Any, dashboard: Dashboard, place: str, sign: str) -> None:
    """In the tree that the browser itself gives to screen readers."""
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/{place}")
    page.wait_for_selector(sign)
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    focusable = [
        node
        for node in nodes
        if not node["ignored"]
        and any(
            one["name"] == "focusable" and one["value"].get("value") for one in node.get("properties", ())
        )
    ]
    assert len(focusable) > 10
    named = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in focusable]
    assert [role for role, name in named if not name.strip()] == []
