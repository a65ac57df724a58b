"""Bases in git repositories, named by somebody who may not be trusted."""

from __future__ import annotations

import subprocess
from pathlib import Path
from urllib.parse import quote_plus

import pytest

from pybernetes.tools.kubectl.kustomize.errors import BuildError
from pybernetes.tools.kubectl.kustomize.remote import repository
from tests.support import require_program


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Return a repository with one commit."""
    git = require_program("git")
    folder = tmp_path / "base"
    folder.mkdir()
    (folder / "kustomization.yaml").write_text("resources: []\n")
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for command in (["init"], ["add", "."], [*identity, "commit", "-m", "first"]):
        subprocess.run([git, *command], cwd=folder, check=True, capture_output=True)
    return folder


def test_a_repository_is_cloned(base: Path) -> None:
    cloned = repository(f"file://{base}")
    assert cloned is not None
    cloned.clone()
    try:
        assert Path(cloned.directory, "kustomization.yaml").exists()
    finally:
        cloned.clean()


def test_a_reference_is_no_option_of_git(base: Path, tmp_path: Path) -> None:
    """``--upload-pack`` names a program that git runs: building somebody's base ran what they liked."""
    ran = tmp_path / "ran"
    option = quote_plus(f"--upload-pack=touch {ran}; git-upload-pack")
    hostile = repository(f"file://{base}?ref={option}")
    assert hostile is not None
    with pytest.raises(BuildError, match="is an option of git"):
        hostile.clone()
    assert not ran.exists() and hostile.directory == "/notCloned"
