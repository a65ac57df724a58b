"""pyb bench dashboard: the dashboard in a real browser with many objects: first rows, search, a change, memory.

It makes the objects (pods that say that they run, on nodes that are not there, or ConfigMaps, in a namespace of its own) where they
are missing, and takes any kubeconfig; a server without controllers keeps the pods.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
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
_REST_SECONDS = 15


def main(argv: list[str]) -> int:
    """Measure and print a line for each figure, or one JSON object with --json."""
    parser = argparse.ArgumentParser(prog="pyb bench dashboard", description=__doc__)
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument("--objects", type=int, default=30_000)
    parser.add_argument("--kind", choices=("pods", "configmaps"), default="pods")
    parser.add_argument(
        "--pages", type=int, default=5, help="browser pages that are open at the end, for the memory"
    )
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    asyncio.run(fill(options.kubeconfig, options.kind, options.objects))
    results = measure(options.kubeconfig, options.kind, options.objects, options.pages)
    if options.json:
        described = {"benchmark": "dashboard", "objects": options.objects, "machine": describe_machine()}
        print(json.dumps(described | {"results": results}))
        return 0
    for name, value in results.items():
        print(f"{name:>40}  {value:8.0f}")
    return 0


async def fill(kubeconfig: str, kind: str, objects: int) -> None:
    """Make the objects that are missing."""
    from pybernetes.client import kubeconfig as kubeconfigs
    from pybernetes.client.errors import AlreadyExists
    from pybernetes.client.refs import CONFIG_MAPS, NAMESPACES, PODS

    ref = PODS if kind == "pods" else CONFIG_MAPS
    turns = asyncio.Semaphore(_AT_ONCE)
    async with kubeconfigs.load(kubeconfig).client(user_agent="bench") as client:

        async def make(kind: Any, body: dict[str, Any], namespace: str = "") -> None:
            async with turns:
                try:
                    await client.create(kind, body, namespace)
                except AlreadyExists:
                    pass

        await make(NAMESPACES, {"metadata": {"name": _NAMESPACE}})
        listed = await client.list(ref, _NAMESPACE, metadata_only=True)
        there = {item["metadata"]["name"] for item in listed.items}
        names = [f"settings-{number:06}" for number in range(objects)]
        await asyncio.gather(
            *(make(ref, _body(ref.kind, name), _NAMESPACE) for name in names if name not in there)
        )


def _body(kind: str, name: str) -> dict[str, Any]:
    """Return an object; a pod is as a deployment's, and is said to be on one of a thousand nodes."""
    body: dict[str, Any] = {"metadata": {"name": name, "labels": {"tier": name[-1]}}}
    if kind == "Pod":
        resources = {"requests": {"cpu": "100m", "memory": "64Mi"}}
        container = {"name": "web", "image": "registry.example/shop/web:1.2.3", "resources": resources}
        body["spec"] = {"nodeName": f"node-{name[-3:]}", "containers": [container]}
    return body


def measure(kubeconfig: str, kind: str, objects: int, pages: int) -> dict[str, float]:
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
            page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
            page.set_default_timeout(_MILLISECONDS)
            results = _in(page, link, kind, objects)
            results["megabytes of the server"] = _megabytes(server.pid)
            for _ in range(pages - 1):
                other = page.context.new_page()
                other.set_default_timeout(_MILLISECONDS)
                other.goto(page.url.partition("&q=")[0])
                other.wait_for_selector(f".count >> text=/^{objects}$/")
            results[f"megabytes of the server, {pages} pages"] = _megabytes(server.pid)
            began = _processor_seconds(server.pid)
            time.sleep(_REST_SECONDS)
            rest = _processor_seconds(server.pid) - began
            results[f"processor milliseconds of the server in {_REST_SECONDS} s at rest"] = rest * 1000
            browser.close()
        return results
    finally:
        server.terminate()
        server.wait()


def _in(page: Any, link: str, kind: str, objects: int) -> dict[str, float]:
    results: dict[str, float] = {}
    page.goto(link)
    page.wait_for_selector("#search")
    page.fill("#search", "settings-000001")
    page.wait_for_selector(".hits b >> text=settings-000001")
    page.wait_for_selector(".hits .quiet:not(:has-text('still reading'))")
    page.goto(f"{link.partition('#')[0]}#/list/{kind}?ns={_NAMESPACE}")
    began = time.perf_counter()
    page.reload()
    page.wait_for_selector(".space .row")
    results["milliseconds to the first rows"] = (time.perf_counter() - began) * 1000
    page.wait_for_selector(f".count >> text=/^{objects}$/")
    results["milliseconds to all rows"] = (time.perf_counter() - began) * 1000
    gaps = page.evaluate(_SCROLL)
    results["milliseconds between frames while scrolling (median)"] = median(gaps)
    results["milliseconds between frames while scrolling (95 %)"] = sorted(gaps)[int(len(gaps) * 0.95)]
    searches = []
    for query in ("settings-0", f"settings-{objects - 1:06}", "tier=7 0123", "nothing-at-all"):
        page.fill("#search", query)
        page.wait_for_selector(".hits .quiet >> text=/ ms/")
        searches.append(float(page.inner_text(".hits .quiet").split(" ms")[0].rsplit(" ", 1)[1]))
        page.fill("#search", "")
    results["milliseconds of a search (median)"] = median(searches)
    results["milliseconds of a search (slowest)"] = max(searches)
    results["milliseconds until a change is seen"] = median(
        _change(page, kind, number) for number in range(5)
    )
    return results


# Within the page, so that neither clocks nor the test's own way to the page count.
_CHANGE = """async ([kind, body]) => {
  const { name } = body.metadata;
  const { resume } = await import("/session.js");
  const { token } = await resume();
  const filter = document.getElementById("filter");
  filter.value = name;
  filter.dispatchEvent(new Event("input"));
  const path = `/k8s/api/v1/namespaces/bench-dashboard/${kind}`;
  const headers = { "X-Dashboard-Token": token, "Content-Type": "application/json" };
  const began = performance.now();
  await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  while (!document.querySelector(".space .row")) await new Promise(requestAnimationFrame);
  const seen = performance.now() - began;
  await fetch(`${path}/${name}?gracePeriodSeconds=0`, { method: "DELETE", headers });
  return seen;
}"""


def _change(page: Any, kind: str, number: int) -> float:
    """Return the milliseconds from the wish for a new object to its row on the screen, its creation included."""
    body = _body("Pod" if kind == "pods" else "ConfigMap", f"new-{number}")
    return page.evaluate(_CHANGE, [kind, body])


# A screen further with each frame, from the first row to the last and beyond.
_SCROLL = """async () => {
  const rows = document.querySelector(".rows"), gaps = [];
  rows.scrollTop = 0;
  let last = await new Promise(requestAnimationFrame);
  for (let frame = 0; frame < 120; frame++) {
    rows.scrollTop += rows.clientHeight * (frame < 100 ? 1 : 50);
    const now = await new Promise(requestAnimationFrame);
    gaps.push(now - last);
    last = now;
  }
  return gaps;
}"""


def _processor_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _megabytes(pid: int) -> float:
    with open(f"/proc/{pid}/status") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024
