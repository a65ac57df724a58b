"""Holds the import rules: who may import whom. Every import statement counts, wherever it stands."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "pybernetes"

LIBRARIES = ("lib", "api", "client", "runtime", "scheduling")

# What a part may import besides itself. Parts that are not named are components: they may import the
# libraries and never one another.
ALLOWED: dict[str, tuple[str, ...]] = {
    "": (),
    "lib": (),
    "api": ("lib",),
    "client": ("lib", "api"),
    "runtime": ("lib", "api", "client"),
    "scheduling": ("lib", "api"),
    "control_plane.store": ("lib",),
    "control_plane.apiserver": ("lib", "api", "control_plane.store"),
    "node.stats": ("lib",),
    "node.kubelet": (*LIBRARIES, "node.stats"),
    "tools.etcd": (*LIBRARIES, "control_plane.store"),
    # It asks the scheduler's rules about a cluster that what-if reads.
    "tools.why": (*LIBRARIES, "tools.what_if"),
    # It shows in a browser what these find out.
    "tools.dashboard": (*LIBRARIES, "tools.slo", "tools.trace", "tools.why", "tools.what_if"),
    # It installs what the others are: through the container runtime, into etcd, from images; it prints as kubectl does.
    "tools.kubeadm": (
        *LIBRARIES,
        "tools.image",
        "tools.kubectl",
        "node.kubelet",
        "node.dns",
        "control_plane.store",
    ),
    # It installs what the control plane of a federation reads, and speaks of the same kinds.
    "tools.federation": (*LIBRARIES, "control_plane.federation"),
    # It stands in front of what kubeadm installs, in static pods as kubeadm's own.
    "tools.load_balancer": (*LIBRARIES, "tools.image", "tools.kubeadm"),
}
WIRING = ("cmd", "tools.local")  # the only parts that put components together

# Libraries that cost too much at start-up to be imported elsewhere.
ONLY_IN = {
    "numpy": (
        "scheduling",
        "control_plane.scheduler",
        "control_plane.descheduler",
        "control_plane.autoscaler",
    )
}


def part_of(module: str) -> str:
    """Name the part that a module path below pybernetes belongs to: lib, node.kubelet, …"""
    words = module.split(".")
    if words[0] in ("control_plane", "node", "tools"):
        return ".".join(words[:2])
    return words[0]


def may_import(importer: str, imported: str) -> bool:
    """Return whether one part may import another."""
    if importer == imported or importer in WIRING or imported == "":
        return True
    return imported in ALLOWED.get(importer, LIBRARIES)


def imports_of(source: str, package: str) -> Iterator[tuple[int, str]]:
    """Yield line and full name of everything that a module imports; `package` resolves relative imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join(parents + ([node.module] if node.module else []))
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}"


def violations_of(source: str, module: str, package: str) -> list[str]:
    """Say what a module (a path below pybernetes) imports and may not."""
    importer = part_of(module)
    violations = []
    for line, name in imports_of(source, package):
        root, _, below = name.partition(".")
        if root == "pybernetes":
            # `from pybernetes import __version__` names no part.
            part = part_of(below) if below and (PACKAGE / below.split(".")[0]).is_dir() else ""
            if not may_import(importer, part):
                violations.append(f"line {line}: {importer or 'pybernetes'} must not import {name}")
        elif root in ONLY_IN and importer not in ONLY_IN[root]:
            violations.append(f"line {line}: only {' and '.join(ONLY_IN[root])} may import {root}")
    return violations


def test_imports_go_one_way() -> None:
    violations = []
    for path in sorted(PACKAGE.rglob("*.py")):
        words = list(path.relative_to(PACKAGE).with_suffix("").parts)
        if words[-1] == "__init__":
            words.pop()
            package = ".".join(["pybernetes", *words])
        else:
            package = ".".join(["pybernetes", *words[:-1]])
        for violation in violations_of(path.read_text(), ".".join(words), package):
            violations.append(f"{path.relative_to(PACKAGE.parent)}: {violation}")
    assert violations == []


@pytest.mark.parametrize(
    ("importer", "imported", "allowed"),
    [
        ("lib", "api", False),
        ("api", "lib", True),
        ("api", "client", False),
        ("client", "runtime", False),
        ("runtime", "client", True),
        ("control_plane.store", "lib", True),
        ("control_plane.store", "api", False),
        ("control_plane.apiserver", "control_plane.store", True),
        ("control_plane.apiserver", "client", False),
        ("control_plane.apiserver", "runtime", False),
        ("control_plane.scheduler", "control_plane.store", False),
        ("control_plane.scheduler", "runtime", True),
        ("control_plane.scheduler", "control_plane.apiserver", False),
        ("node.kubelet", "node.proxy", False),
        ("tools.kubectl", "cmd", False),
        ("tools.local", "node.kubelet", True),
        ("cmd", "control_plane.apiserver", True),
    ],
)
def test_rules(importer: str, imported: str, allowed: bool) -> None:
    assert may_import(importer, imported) is allowed


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("import pybernetes.lib.discover", 0),
        ("from pybernetes import __version__", 0),
        ("from pybernetes import cmd", 1),
        ("def late():\n    import pybernetes.cmd.main", 1),
        ("from ..lib import discover", 0),
        ("from ..cmd import main", 1),
        ("from .. import cmd", 1),
        ("import numpy as np", 1),
    ],
)
def test_import_statements_are_found(source: str, count: int) -> None:
    assert len(violations_of(source, "api.example", "pybernetes.api")) == count


def test_nobody_waits_with_wait_for() -> None:
    """In Python 3.11 ``asyncio.wait_for`` loses a cancellation that comes with the result; ``asyncio.timeout`` does not."""
    using = [str(path) for path in PACKAGE.rglob("*.py") if "asyncio.wait_for(" in path.read_text()]
    assert using == []


# HTTP is spoken by lib/http, and by kubectl, which has its own client because that starts faster; addresses of manifests may
# need the proxies of the environment, which the standard library knows.
_OTHER_HTTP = (
    "http.client",
    "http.server",
    "urllib.request",
    "requests",
    "httpx",
    "aiohttp",
    "websockets",
    "wsproto",
)


def test_there_is_one_http_stack() -> None:
    problems = []
    for path in sorted(PACKAGE.rglob("*.py")):
        source, place = path.read_text(), path.relative_to(PACKAGE)
        for line, name in imports_of(source, ""):
            parser = name.startswith("httptools") and place.parts[:2] != ("lib", "http")
            if parser or (name.startswith(_OTHER_HTTP) and place.parts[:2] != ("tools", "kubectl")):
                problems.append(f"{place}:{line} imports {name}")
        if "asyncio.open_connection(" in source:
            problems.append(f"{place} opens a connection by itself")
    assert problems == []
