"""The launcher as a program. What it does on a bare machine is tried by CI, which starts from one."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.support import require_root

ROOT = Path(__file__).resolve().parents[1]
LAUNCHER = ROOT / "pyb"

pytestmark = pytest.mark.skipif(
    not (ROOT / ".venv" / "pyb-base").exists(), reason="needs the environment that ./pyb makes"
)


def run(*command: str | Path, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=300)


def test_it_passes_arguments_and_exit_codes_on() -> None:
    done = run(LAUNCHER, "no such program")
    assert done.returncode == 2
    assert "there is no program 'no such program'" in done.stderr


def test_it_runs_from_any_folder_without_importing_from_it(tmp_path: Path) -> None:
    (tmp_path / "pybernetes.py").write_text("raise RuntimeError('the wrong module')")
    done = run(LAUNCHER, "version", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Pybernetes ")


@pytest.mark.parametrize("relative", [False, True])
def test_a_link_named_like_a_program_runs_it(tmp_path: Path, relative: bool) -> None:
    link = tmp_path / "version"
    link.symlink_to(os.path.relpath(LAUNCHER, tmp_path) if relative else LAUNCHER)
    done = run(link, folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("Pybernetes ")


def test_a_link_with_any_other_name_is_pyb(tmp_path: Path) -> None:
    (tmp_path / "kubes").symlink_to(LAUNCHER)
    (tmp_path / "version").symlink_to("kubes")
    assert run(tmp_path / "kubes", "version").stdout.startswith("Pybernetes ")
    assert run(tmp_path / "version").stdout.startswith("Pybernetes ")


def test_it_is_found_on_the_path(tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": f"{ROOT}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-c", "pyb version"], capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    assert done.stdout.startswith("Pybernetes ")


@pytest.mark.parametrize(
    ("mode", "expected"),
    [(0o755, 'what this checkout needs for "base" is not installed'), (0o700, "closed to others"), (None, "has no environment yet")],
)  # fmt: skip
def test_a_second_user_learns_whose_the_environment_is(mode: int | None, expected: str) -> None:
    require_root()
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder)
        checkout.chmod(0o755)
        for name in ("pyb", "pyproject.toml"):
            shutil.copy(ROOT / name, checkout / name)
        if mode is not None:
            (checkout / ".venv").mkdir()
            (checkout / ".venv").chmod(mode)
        done = subprocess.run(
            [checkout / "pyb", "version"], capture_output=True, text=True, user=65534, group=65534, extra_groups=[]
        )  # fmt: skip
    assert done.returncode == 1
    assert expected in done.stderr
    assert "the user root" in done.stderr and f"git clone {checkout}" in done.stderr


def test_a_second_user_learns_that_the_python_is_closed() -> None:
    require_root()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as closed:  # of mode 700
        checkout = Path(folder)
        checkout.chmod(0o755)
        for name in ("pyb", "pyproject.toml"):
            shutil.copy(ROOT / name, checkout / name)
        shutil.copy(sys.executable, Path(closed, "python3"))
        (checkout / ".venv/bin").mkdir(parents=True)
        (checkout / ".venv/bin/python").symlink_to(Path(closed, "python3"))
        done = subprocess.run(
            [checkout / "pyb", "version"], capture_output=True, text=True, user=65534, group=65534, extra_groups=[]
        )  # fmt: skip
    assert done.returncode == 1
    assert f"its Python, {closed}/python3, is closed to others" in done.stderr
