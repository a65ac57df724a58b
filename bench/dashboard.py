"""pyb bench dashboard: the dashboard in a real browser with many objects: first rows, search, a change, memory.

It makes the objects (ConfigMaps of a namespace of its own) where they are missing, and takes any kubeconfig.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
import time
from statistics import median
from typing import Any

from bench.harness.machine import describe_machine

SUMMARY = "the dashboard in a browser: milliseconds to the first rows, of a search and of a change; memory"
_NAMESPACE = "bench-dashboard"
_AT_ONCE = 32
_MILLISECONDS = 120_000


def main(argv: list[str]) -> int:
    """Measure and print a line for each figure, or one JSON object with --json."""
    parser = argparse.ArgumentParser(prog="pyb bench dashboard", description=__doc__)
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument("--objects", type=int, default=30_000)
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    asyncio.run(_fill(options.kubeconfig, options.objects))
    results = measure(options.kubeconfig, options.objects)
    if options.json:
        described = {"benchmark": "dashboard", "objects": options.objects, "machine": describe_machine()}
        print(json.dumps(described | {"results": results}))
        return 0
    for name, value in results.items():
        print(f"{name:>40}  {value:8.0f}")
    return 0


async def _fill(kubeconfig: str, objects: int) -> None:
    """Make the objects that are missing."""
    from pybernetes.client import kubeconfig as kubeconfigs
    from pybernetes.client.errors import AlreadyExists
    from pybernetes.client.refs import CONFIG_MAPS, NAMESPACES

    turns = asyncio.Semaphore(_AT_ONCE)
    async with kubeconfigs.load(kubeconfig).client(user_agent="bench") as client:

        async def make(kind: Any, name: str, namespace: str = "") -> None:
            async with turns:
                try:
                    await client.create(
                        kind, {"metadata": {"name": name, "labels": {"tier": name[-1]}}}, namespace
                    )
                except AlreadyExists:
                    pass

        await make(NAMESPACES, _NAMESPACE)
        listed = await client.list(CONFIG_MAPS, _NAMESPACE, metadata_only=True)
        there = {item["metadata"]["name"] for item in listed.items}
        names = [f"settings-{number:06}" for number in range(objects)]
        await asyncio.gather(*(make(CONFIG_MAPS, name, _NAMESPACE) for name in names if name not in there))


def measure(kubeconfig: str, objects: int) -> dict[str, float]:
    """Return the figures: milliseconds as the page sees them, megabytes of the server."""
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "pybernetes.cmd.main", "dashboard", f"--kubeconfig={kubeconfig}"]
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        server.stdout.readline()
        link = server.stdout.readline().strip()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
            )
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.set_default_timeout(_MILLISECONDS)
            results = _in(page, link, objects)
            browser.close()
        results["megabytes of the server"] = _megabytes(server.pid)
        return results
    finally:
        server.terminate()
        server.wait()


def _in(page: Any, link: str, objects: int) -> dict[str, float]:
    results: dict[str, float] = {}
    page.goto(link)
    page.wait_for_selector("#search")
    page.fill("#search", "settings-000001")
    page.wait_for_selector(".hits b >> text=settings-000001")
    page.wait_for_selector(".hits .quiet:not(:has-text('still reading'))")
    page.goto(f"{link.partition('#')[0]}#/list/configmaps?ns={_NAMESPACE}")
    began = time.perf_counter()
    page.reload()
    page.wait_for_selector(".space .row")
    results["milliseconds to the first rows"] = (time.perf_counter() - began) * 1000
    page.wait_for_selector(f".count >> text=/^{objects}$/")
    results["milliseconds to all rows"] = (time.perf_counter() - began) * 1000
    searches = []
    for query in ("settings-0", f"settings-{objects - 1:06}", "tier=7 0123", "nothing-at-all"):
        page.fill("#search", query)
        page.wait_for_selector(".hits .quiet >> text=/ ms/")
        searches.append(float(page.inner_text(".hits .quiet").split(" ms")[0].rsplit(" ", 1)[1]))
        page.fill("#search", "")
    results["milliseconds of a search (median)"] = median(searches)
    results["milliseconds of a search (slowest)"] = max(searches)
    results["milliseconds until a change is seen"] = median(_change(page, number) for number in range(5))
    return results


# Within the page, so that neither clocks nor the test's own way to the page count.
_CHANGE = """async (name) => {
  const { resume } = await import("/session.js");
  const { token } = await resume();
  const filter = document.getElementById("filter");
  filter.value = name;
  filter.dispatchEvent(new Event("input"));
  const path = "/k8s/api/v1/namespaces/bench-dashboard/configmaps";
  const headers = { "X-Dashboard-Token": token, "Content-Type": "application/json" };
  const began = performance.now();
  await fetch(path, { method: "POST", headers, body: JSON.stringify({ metadata: { name } }) });
  while (!document.querySelector(".space .row")) await new Promise(requestAnimationFrame);
  const seen = performance.now() - began;
  await fetch(`${path}/${name}`, { method: "DELETE", headers });
  return seen;
}"""


def _change(page: Any, number: int) -> float:
    """Return the milliseconds from the wish for a new object to its row on the screen, its creation included."""
    return page.evaluate(_CHANGE, f"new-{number}")


def _megabytes(pid: int) -> float:
    with open(f"/proc/{pid}/status") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024
