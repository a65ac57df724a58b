import subprocess
import sys
from importlib import import_module

import pytest

from pybernetes import __version__
from pybernetes.cmd.main import main, programs


@pytest.mark.parametrize("program", programs())
def test_every_program_has_a_summary_of_one_line_and_a_main(program: str) -> None:
    entry = import_module(f"pybernetes.cmd.{program.replace('-', '_')}")
    assert entry.SUMMARY and "\n" not in entry.SUMMARY
    assert callable(entry.main)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pyb", "version"]) == 0
    assert __version__ in capsys.readouterr().out
    assert main(["pyb", "--version"]) == 0


def test_a_link_named_like_a_program_is_that_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["/usr/local/bin/version"]) == 0
    assert __version__ in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["--help"], ["help"]])
def test_help_lists_the_programs(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pyb", *arguments]) == 0
    output = capsys.readouterr().out
    for program in programs():
        assert f"  {program} " in output


@pytest.mark.parametrize("name", ["no-such-program", "main", "__init__", "_checkout", "../main", ""])
def test_an_unknown_program_is_refused_with_the_list(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pyb", name]) == 2
    error = capsys.readouterr().err
    assert f"there is no program {name!r}" in error
    assert "\n  version" in error


def test_one_program_does_not_import_the_others() -> None:
    code = (
        "import sys; from pybernetes.cmd.main import main; main(['pyb', 'version']);"
        "print(sorted(name for name in sys.modules if name.startswith('pybernetes')))"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = "['pybernetes', 'pybernetes.cmd', 'pybernetes.cmd.main', 'pybernetes.cmd.version']"
    assert output.splitlines()[-1] == loaded
