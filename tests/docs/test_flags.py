"""The page of flags is current, and nothing on it is accepted silently."""

from __future__ import annotations

import argparse
import importlib.machinery
import importlib.util
import logging
from types import ModuleType

import pytest

from pybernetes.cmd import kube_apiserver
from pybernetes.control_plane.apiserver.assembly.flags import groups
from pybernetes.control_plane.apiserver.assembly.upstream_flags import OTHER_FLAGS
from pybernetes.lib import flags
from pybernetes.lib.flags import Fixed, Ignored, Refused
from tests.docs.references import ROOT


def _script() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("flags_page", str(ROOT / "scripts" / "flags-page"))
    spec = importlib.util.spec_from_loader("flags_page", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_the_page_is_current() -> None:
    script = _script()
    assert script.PAGE.read_text() == script.page(), "run scripts/flags-page"


def _parsed(*given: str) -> argparse.Namespace:
    return kube_apiserver.parser().parse_args(list(given))


def _text(value: object) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value).lower()


@pytest.mark.parametrize("flag", OTHER_FLAGS, ids=lambda flag: flag.name)
def test_no_flag_is_taken_silently(
    flag: flags.Flag, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    assert flag.help and isinstance(flag, Fixed | Ignored | Refused)
    if isinstance(flag, Refused):
        with pytest.raises(SystemExit):
            _parsed(f"--{flag.name}=x")
        assert f"--{flag.name} is not supported: {flag.help}" in capsys.readouterr().err
        return
    other = {"bool": _text(not flag.default), "tuple": "other", "str": "other"}.get(
        type(flag.default).__name__
    )
    value = other or ("37s" if isinstance(flag.default, flags.Seconds) else "37")
    arguments = _parsed(f"--{flag.name}={value}")
    if isinstance(flag, Fixed):
        flags.check(_parsed(), OTHER_FLAGS)
        with pytest.raises(ValueError, match=f"--{flag.name}: .* is not supported: "):
            flags.check(arguments, OTHER_FLAGS)
    else:
        with caplog.at_level(logging.WARNING):
            flags.check(arguments, OTHER_FLAGS)
        assert f"the flag --{flag.name} changes nothing here: {flag.help}" in caplog.text


def test_values_that_are_true_anyway() -> None:
    flags.check(_parsed("--emulated-version=kube=1.37", "--logging-format=text"), OTHER_FLAGS)


def test_no_flag_is_declared_twice() -> None:
    names = [flag.name for group in groups().values() for flag in group]
    assert sorted(names) == sorted(set(names))
