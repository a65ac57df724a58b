"""A kustomization that somebody else wrote cannot take all time, all memory, or files that are none of its business."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pybernetes.tools.kubectl.kustomize import loader
from tests.tools.kubectl.kustomize.compare import Answer, ours


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_yaml", ".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def refused(folder: Path, *arguments: str) -> str:
    answer: Answer = ours([str(folder), *arguments])
    assert answer.code == 1 and not answer.output
    return answer.errors


def test_aliases_do_not_multiply(tmp_path: Path) -> None:
    lines = [
        "apiVersion: v1",
        "kind: ConfigMap",
        "metadata: {name: a}",
        "a0: &a0 [x, x, x, x, x, x, x, x, x, x]",
    ]
    lines += [f"a{step}: &a{step} [{', '.join([f'*a{step - 1}'] * 10)}]" for step in range(1, 10)]
    write(tmp_path, kustomization_yaml="resources: [a.yaml]", a_yaml="\n".join(lines))
    assert "document contains excessive aliasing" in refused(tmp_path)


def test_depth_has_a_bound(tmp_path: Path) -> None:
    deep = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: " + "[" * 5000 + "]" * 5000
    write(tmp_path, kustomization_yaml="resources: [a.yaml]", a_yaml=deep)
    assert "exceeded max depth" in refused(tmp_path)


def test_bases_do_not_multiply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "MAX_FOLDERS", 100)
    write(tmp_path, l0__kustomization_yaml="configMapGenerator: [{name: a}]")
    for step in range(1, 12):
        write(tmp_path / f"l{step}", kustomization_yaml=f"resources: [../a{step}, ../b{step}]")
        for side in "ab":
            text = f"resources: [../l{step - 1}]\nnamePrefix: {side}-"
            write(tmp_path / f"{side}{step}", kustomization_yaml=text)
    assert refused(tmp_path / "l11") == (
        "error: the kustomization is too large: it may have 100 bases and components at most\n"
    )


def test_replacements_do_not_double_without_end(tmp_path: Path) -> None:
    one = (
        "- source: {kind: ConfigMap, fieldPath: data.v}\n  targets:\n  - select: {kind: ConfigMap}\n"
        "    fieldPaths: [data.v]\n    options: {delimiter: '/', index: 99}\n"
    )
    cm = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {v: xxxxxxxxxxxxxxxx}\n"
    write(tmp_path, kustomization_yaml="resources: [a.yaml]\nreplacements:\n" + one * 40, a_yaml=cm)
    assert "a replacement makes a value with more than" in refused(tmp_path)


def test_a_file_of_a_bearable_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "MAX_FILE_BYTES", 1 << 20)
    write(
        tmp_path,
        kustomization_yaml="configMapGenerator: [{name: a, files: [big]}]",
        big="x" * ((1 << 20) + 1),
    )
    assert "big' has more than 1 MiB" in refused(tmp_path)


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    write(tmp_path, kustomization_yaml="configMapGenerator: [{name: a, files: [pipe]}]")
    assert "pipe' is not a regular file" in refused(tmp_path)
    write(tmp_path, kustomization_yaml="configMapGenerator: [{name: a, files: [/dev/zero]}]")
    assert "'/dev/zero' is not a regular file" in refused(
        tmp_path, "--load-restrictor", "LoadRestrictionsNone"
    )


def test_a_link_does_not_lead_out(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    write(tmp_path, secret="hidden")
    write(inner, kustomization_yaml="configMapGenerator: [{name: a, files: [link]}]")
    (inner / "link").symlink_to(tmp_path / "secret")
    assert f"security; file '{inner}/link' is not in or below '{inner}'" in refused(inner)


def test_nothing_of_it_is_imported_unless_used() -> None:
    import subprocess
    import sys

    code = (
        "import io, sys; from pybernetes.tools.kubectl.main import main; "
        "main(['version', '--client'], stdout=io.StringIO()); "
        "sys.exit(any(name.startswith('pybernetes.tools.kubectl.kustomize.') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
