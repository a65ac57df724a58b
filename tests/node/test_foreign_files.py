"""What a pod can change is opened, gone through and removed by ``lib/files`` alone."""

from __future__ import annotations

import ast
from pathlib import Path

NODE = Path(__file__).resolve().parents[2] / "pybernetes/node"
# By name they follow links, cross mounts, or come back to a name that meanwhile stands for something else.
REFUSED = {
    "shutil.rmtree",
    "shutil.copytree",
    "os.walk",
    "os.fwalk",
    "os.removedirs",
    "glob.glob",
    "glob.iglob",
}
# Folders of the kernel's own filesystems, where nobody makes links.
ELSEWHERE = {"kubelet/cgroups/pod_cgroups.py": {"os.walk"}}


def calls(source: str) -> set[str]:
    """Return the functions of modules that a source calls."""
    return {
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }


def test_trees_are_left_to_one_module() -> None:
    problems = {}
    for path in NODE.rglob("*.py"):
        name = str(path.relative_to(NODE))
        refused = calls(path.read_text()) & REFUSED - ELSEWHERE.get(name, set())
        if refused:
            problems[name] = sorted(refused)
    assert problems == {}
