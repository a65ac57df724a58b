"""Streams of pods in the browser: logs of two pods, a shell in a terminal, a forwarded port."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.servers import Server
from tests.tools.dashboard.conftest import log_in
from tests.tools.dashboard.kubelet import COLOURED, MANY, server_with_pods
from tests.tools.dashboard.running import Dashboard

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server_with_pods(tmp_path_factory, "web-a", "web-b", "talkative") as server:
        yield server


def test_logs_of_two_pods(page: Any, dashboard: Dashboard) -> None:
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/list/pods?ns=default&sort=Name&q=web-")
    page.wait_for_selector(".space .cell >> text=web-b")
    page.focus(".rows")
    page.keyboard.press("*")
    page.click(".actions >> text=Logs")
    page.wait_for_selector(".log >> text=web-a/main  web-a says <b>hello</b>")
    page.wait_for_selector(".log >> text=web-b/main  web-b goes on")
    page.fill("#filter", "b goes")
    page.wait_for_function(
        "() => document.querySelector('.log').textContent === 'web-b/main  web-b goes on\\n'"
    )
    with page.expect_download() as download:
        page.click("text=Download")
    assert download.value.path().read_text().count("\n") == 4


def test_a_long_log_in_colours(page: Any, dashboard: Dashboard) -> None:
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/logs/default/talkative?tail=100000")
    page.wait_for_selector(".count >> text=/^100,00\\d lines$/")
    log = page.locator(".log")
    # Colours are shown, other sequences and what was written over are not, and markup is text.
    page.wait_for_function(
        "() => document.querySelector('.log').textContent.endsWith('red plain bold\\n100%\\n<img src=x>\\n')"
    )
    red = page.locator(".log span:text-is('red')").evaluate("(element) => getComputedStyle(element).color")
    assert red == "rgb(224, 108, 117)" and log.locator("img").count() == 0
    assert page.locator(".log span.bold").inner_text() == "bold"
    # Only what is near is laid out; the end is seen, and stays so.
    assert log.evaluate("(log) => log.scrollHeight - log.scrollTop - log.clientHeight") < 40
    page.fill("#filter", "Line 4321 OF")
    page.wait_for_selector(".count >> text=/^1 of 100,00\\d lines$/")
    assert page.inner_text(".log .hit") == "line 4321 of"
    page.fill("#filter", "")
    page.wait_for_selector(".count >> text=/^100,00\\d lines$/")
    with page.expect_download() as download:
        page.click("text=Download")
    text = download.value.path().read_text()
    assert text.startswith("line 0 of many\n") and text.endswith(
        COLOURED.replace("\r\n", "\n").replace("\r", "\n")
    )
    assert text.count("of many") == MANY
    assert (
        page.inner_text(".command") == "kubectl logs -n default talkative --all-containers -f --tail=100000"
    )


def test_a_link_alone_starts_no_shell(page: Any, dashboard: Dashboard) -> None:
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/?lang=en#/shell/default/web-a")
    page.wait_for_selector("button >> text=Begin")
    page.keyboard.type("x")
    assert not page.inner_text(".terminal").strip("\u200b\n ")
    page.keyboard.press("Enter")
    page.wait_for_function(_PROMPTED)


# A line is there twice when cat has read it: as it was typed, and as cat wrote it.
_HEARD = "() => [...document.querySelectorAll('.line')].filter((line) => line.textContent.trim() === 'heard').length === 2"
_PROMPTED = "() => /[$#]\\s*$/.test(document.querySelector('.cursor').parentElement.textContent)"


def test_a_shell(page: Any, dashboard: Dashboard) -> None:
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/object/pods/default/web-a")
    page.wait_for_selector("text=Shell")
    page.keyboard.press("s")
    page.wait_for_selector(".terminal .cursor")
    page.wait_for_selector(".command >> text=kubectl exec -it -n default web-a -- sh")
    page.keyboard.type("echo $((6*7)); printf '\\033[31mrot\\033[0m %s\\n' \"$TERM\"; stty size\n")
    page.wait_for_selector(".line >> text=/^42$/")
    page.wait_for_selector(".line >> text=rot xterm-256color")
    red = page.locator(".line span:text-is('rot')").evaluate("(element) => getComputedStyle(element).color")
    assert red == "rgb(224, 108, 117)"
    rows, columns = map(int, page.inner_text(".line >> text=/^\\d+ \\d+$/").split())
    assert rows > 10 and columns > 80
    # Keys that the page itself knows belong to the shell, and what is written is never markup.
    page.keyboard.type("echo '/:<i>日本</i>'\n")
    page.wait_for_selector(".line >> text=/^\\/:<i>日本<\\/i>$/")
    # An interrupt ends what runs; what is typed before the next prompt would be lost with it.
    # What is typed while the shell still edits the line would not be shown a second time.
    page.keyboard.type("echo begun; cat\n")
    page.wait_for_selector(".line >> text=/^begun$/")
    page.keyboard.type("heard\n")
    page.wait_for_function(_HEARD)
    page.keyboard.press("Control+c")
    page.wait_for_function(_PROMPTED)
    page.keyboard.type("exit 3\n")
    page.wait_for_selector(".problem >> text=It has ended with 3.")
    page.click("text=Begin again")
    page.keyboard.type("echo again-$((1+1))\n")
    page.wait_for_selector(".line >> text=/^again-2$/")


def test_a_port_is_forwarded_while_one_goes_about(page: Any, dashboard: Dashboard) -> None:
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/object/pods/default/web-a")
    page.click("text=Forward a port")
    page.wait_for_selector("dialog .command >> text=kubectl port-forward -n default pod/web-a :80")
    page.click("#confirm")
    page.wait_for_selector("dialog", state="detached")
    address = page.get_attribute(".forward a", "href")
    page.goto(f"{dashboard.origin}/#/list/pods")
    page.wait_for_selector(".space .row")
    with urllib.request.urlopen(address, timeout=60) as answer:
        assert b"a page of the pod" in answer.read()
    page.click(".forward button")
    page.wait_for_selector(".forward", state="detached")


_SHOW = """async ([text, columns, rows]) => {
  const { Screen } = await import("/terminal/screen.js");
  const { Parser } = await import("/terminal/parser.js");
  const screen = new Screen(columns, rows), replies = [];
  screen.reply = (reply) => replies.push(reply);
  new Parser(screen).write(text);
  return { lines: screen.lines.map((line) => line.map((cell) => cell.text).join("").trimEnd()), at: [screen.x, screen.y], replies, history: screen.history.length };
}"""


def test_what_programs_draw(page: Any, dashboard: Dashboard) -> None:
    page.goto(dashboard.origin)
    esc = "\x1b["
    for text, lines in (
        ("abc\r\ndef", ["abc", "def", ""]),
        ("abcdefg", ["abcde", "fg", ""]),  # wraps
        (f"abc{esc}2DX", ["aXc", "", ""]),
        (f"abc{esc}1;2HX{esc}K", ["aX", "", ""]),
        (f"a\r\nb\r\nc{esc}2Jx", ["", "", " x"]),
        ("a\r\nb\r\nc\r\nd", ["b", "c", "d"]),  # scrolls
        (f"a\r\nb\r\nc{esc}2;3r{esc}3;1H\r\nd", ["a", "c", "d"]),  # within margins
        (f"abc{esc}?1049hxyz{esc}?1049l", ["abc", "", ""]),
        (f"abcd{esc}1;2H{esc}P", ["acd", "", ""]),
        (f"abcd{esc}1;2H{esc}@", ["a bcd", "", ""]),
        (f"a\r\nb\r\nc{esc}1;1H{esc}L", ["", "a", "b"]),
        (f"a\r\nb\r\nc{esc}1;1H{esc}M", ["b", "c", ""]),
        (f"{esc}1;1Ha\x1bMb", [" b", "a", ""]),
        ("日本語x", ["日本", "語x", ""]),
        ("e\u0301x", ["e\u0301x", "", ""]),
        ("\x1b(0lqk\x1b(B", ["┌─┐", "", ""]),
        ("\x1b]0;title\x07a\x1b]52;c;AAAA\x1b\\b\x1bPx\x1b\\c", ["abc", "", ""]),
        (f"a{esc}3b", ["aaaa", "", ""]),
        (f"{esc}99999;99999Hx{esc}{'9' * 5000}Cy", None),
        ("\x1b[" * 1000 + "\x1b]" * 1000, None),
        (f"{esc}38;2;1;2;3;48;5;300;4:3;99ma", ["a", "", ""]),
    ):
        shown = page.evaluate(_SHOW, [text, 5, 3])
        assert lines is None or shown["lines"] == lines, text
        assert [len(shown["lines"]), shown["replies"]] == [3, []], text
    asked = page.evaluate(_SHOW, [f"ab{esc}6n{esc}c{esc}21t\x1b]11;?\x07", 5, 3])
    assert asked["replies"] == ["\x1b[1;3R", "\x1b[?1;2c"]  # and nothing that a program could choose


def test_a_debugging_container(page: Any, dashboard: Dashboard, server: Server) -> None:
    """The test plays the kubelet that starts it."""
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/object/pods/default/web-b")
    page.click("button >> text=Debug")
    page.wait_for_selector(
        "dialog .command >> text=kubectl debug -it web-b -n default --image=busybox --target=main -c debugger-1"
    )
    page.click("#confirm")
    page.wait_for_selector(".story >> text=waiting until it runs")
    state = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
    status = {
        "name": "debugger-1",
        "image": "busybox",
        "imageID": "",
        "ready": False,
        "restartCount": 0,
        "state": state,
    }
    code, answer = server.call(
        "PATCH", "/api/v1/namespaces/default/pods/web-b/status", {"status": {"ephemeralContainerStatuses": [status]}},
        headers={"Content-Type": "application/merge-patch+json"},
    )  # fmt: skip
    assert code == 200, answer
    page.wait_for_selector(".command >> text=kubectl attach -it -n default web-b -c debugger-1")
    page.wait_for_selector(".terminal .cursor")
    page.keyboard.type("echo attached-$((2+3))\n")
    page.wait_for_selector(".line >> text=/^attached-5$/")
