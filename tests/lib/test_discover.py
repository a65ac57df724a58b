import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pybernetes.lib.discover import DiscoveryError, discover, names


@pytest.fixture
def things(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "some_things"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for module in [name for name in sys.modules if name.split(".")[0] == "some_things"]:
        del sys.modules[module]


def test_names_lists_modules_and_packages_without_importing_them(things: Path) -> None:
    (things / "second.py").write_text("raise RuntimeError('imported')")
    (things / "first").mkdir()
    (things / "first" / "__init__.py").write_text("raise RuntimeError('imported')")
    (things / "_helper.py").write_text("")
    (things / "folder_without_init").mkdir()
    (things / "page.md").write_text("")
    assert names("some_things") == ["first", "second"]


def test_names_lists_folders_alone(things: Path) -> None:
    (things / "second.py").write_text("raise RuntimeError('imported')")
    (things / "first").mkdir()
    (things / "first" / "__init__.py").write_text("")
    (things / "first" / "first.py").write_text("THING = 1")
    assert names("some_things", folders=True) == ["first"]
    assert discover("some_things", "THING", folders=True) == {"first": 1}


@pytest.mark.parametrize("package", ["no_such_package", "sys"])
def test_names_refuses_what_is_no_package(package: str) -> None:
    with pytest.raises(DiscoveryError, match=f"{package} is not a package"):
        names(package)


def test_discover_returns_the_attribute_of_every_module(things: Path) -> None:
    (things / "one.py").write_text("THING = 1")
    (things / "two.py").write_text("THING = 2")
    assert discover("some_things", "THING") == {"one": 1, "two": 2}


def test_discover_looks_into_a_folder_for_the_file_of_its_name(things: Path) -> None:
    (things / "one").mkdir()
    (things / "one" / "__init__.py").write_text("")
    (things / "one" / "one.py").write_text("THING = 1")
    (things / "one" / "part.py").write_text("raise RuntimeError('imported')")
    assert discover("some_things", "THING") == {"one": 1}


def test_discover_names_values_by_key(things: Path) -> None:
    (things / "one.py").write_text("THING = 'first'")
    assert discover("some_things", "THING", key=str.upper) == {"FIRST": "first"}


def test_discover_fails_when_a_module_lacks_the_attribute(things: Path) -> None:
    (things / "one.py").write_text("THING = 1")
    (things / "two.py").write_text("THINGS = 2")
    with pytest.raises(DiscoveryError, match=r"some_things\.two has no THING"):
        discover("some_things", "THING")


def test_discover_fails_when_two_values_share_a_name(things: Path) -> None:
    (things / "one.py").write_text("THING = 'same'")
    (things / "two.py").write_text("THING = 'same'")
    with pytest.raises(DiscoveryError, match=r"some_things\.two and some_things\.one are both named 'same'"):
        discover("some_things", "THING", key=str)


def test_an_error_in_a_module_is_not_hidden(things: Path) -> None:
    (things / "broken.py").write_text("import there_is_no_such_module")
    with pytest.raises(ModuleNotFoundError, match="there_is_no_such_module"):
        discover("some_things", "THING")
