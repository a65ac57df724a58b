"""No program takes a flag silently: it is read somewhere, or the log says why it changes nothing, or it is refused."""

from __future__ import annotations

import argparse
import ast
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pybernetes.cmd import (
    cloud_controller_manager,
    cluster_autoscaler,
    descheduler,
    kube_controller_manager,
    kube_scheduler,
    metrics_adapter,
    metrics_server,
)
from pybernetes.cmd._aggregated import refuse
from pybernetes.control_plane.autoscaler import flags as autoscaler
from pybernetes.lib import flags
from pybernetes.node.dns import flags as dns
from pybernetes.node.kubelet import config_fields
from pybernetes.node.kubelet import flags as kubelet
from pybernetes.node.proxy import config as proxy_config
from pybernetes.node.proxy import flags as proxy

SOURCES = Path(flags.__file__).parents[1]
SHARED = ("cmd/_secure_serving.py", "cmd/_leader_election.py", "cmd/_controller_manager.py", "cmd/_aggregated.py",
          "cmd/_program.py", "runtime")  # fmt: skip


class Program(NamedTuple):
    """A program: its parser, where its flags are read, and what looks at them before it starts."""

    parser: Callable[[], argparse.ArgumentParser]
    sources: tuple[str, ...]
    check: Callable[[argparse.Namespace], Any]


def _autoscaler(options: argparse.Namespace) -> None:
    autoscaler.check(options)
    flags.warn_ignored(options, autoscaler.IGNORED)


def _adapter(options: argparse.Namespace) -> None:
    refuse(options, metrics_adapter._REFUSED)
    flags.warn_ignored(options, metrics_adapter._IGNORED)


def _cloud(options: argparse.Namespace) -> None:
    flags.warn_ignored(options, cloud_controller_manager._IGNORED)


PROGRAMS = {
    "kube-controller-manager": Program(
        kube_controller_manager.parser, ("control_plane/controllers", "cmd/kube_controller_manager.py", *SHARED),
        kube_controller_manager._check),
    "kube-scheduler": Program(
        kube_scheduler.parser, ("control_plane/scheduler", "scheduling", "cmd/kube_scheduler.py", *SHARED),
        kube_scheduler.configuration),
    "cloud-controller-manager": Program(
        cloud_controller_manager.parser, ("control_plane/cloud", "cmd/cloud_controller_manager.py", *SHARED), _cloud),
    "descheduler": Program(
        descheduler.parser, ("control_plane/descheduler", "cmd/descheduler.py", *SHARED), descheduler.policy),
    "cluster-autoscaler": Program(
        cluster_autoscaler.parser, ("control_plane/autoscaler", "cmd/cluster_autoscaler.py", *SHARED), _autoscaler),
    "metrics-server": Program(
        metrics_server.parser, ("control_plane/metrics_server", "cmd/metrics_server.py", *SHARED), metrics_server.check),
    "metrics-adapter": Program(
        metrics_adapter.parser, ("control_plane/metrics_adapter", "cmd/metrics_adapter.py", *SHARED), _adapter),
    "kubelet": Program(kubelet.parser, ("node/kubelet", "cmd/kubelet.py"), kubelet.configuration),
    "kube-proxy": Program(proxy.parser, ("node/proxy", "cmd/kube_proxy.py"), proxy.configuration),
    "kube-dns": Program(dns.parser, ("node/dns", "cmd/kube_dns.py"), lambda options: None),
}  # fmt: skip
DECLARATIONS = ("Flag", "Ignored", "Fixed", "Refused")


def _names(*places: str) -> Iterator[str]:
    """Return every attribute that is read and every text in some sources, but for declarations of flags."""
    for place in places:
        path = SOURCES / place
        for file in [path] if path.is_file() else path.rglob("*.py"):
            yield from _read(ast.parse(file.read_text()))


def _read(tree: ast.AST) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Call):
            called = node.func
            if (called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")) in DECLARATIONS:
                continue
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        yield from _read(node)


def _taken(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        if action.option_strings and action.nargs != 0 and not isinstance(action, flags._Refuse):
            yield action


def _other(action: argparse.Action) -> str:
    """Return a value that is not the default of a flag."""
    default = action.default
    if isinstance(default, bool):
        return str(not default).lower()
    if isinstance(default, flags.Seconds):
        return "37s"
    return "37" if isinstance(default, int | float) else "other"


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_flag_is_taken_silently(name: str, caplog: pytest.LogCaptureFixture) -> None:
    program = PROGRAMS[name]
    read, silent = frozenset(_names(*program.sources)), []
    for action in _taken(program.parser()):
        if action.dest.startswith(("field_", "deep_")):
            continue  # fields of a configuration file: see below
        ignored = action.help is argparse.SUPPRESS and action.metavar is not None
        if not ignored and action.dest in read:
            continue
        flag = next(option for option in action.option_strings if option.startswith("--"))
        arguments = program.parser().parse_args([f"{flag}={_other(action)}"])
        caplog.clear()
        try:
            with caplog.at_level(logging.WARNING):
                program.check(arguments)
        except ValueError as error:
            if flag in str(error) or flag in caplog.text:
                continue
        if f"{flag} changes nothing here: {action.metavar}" not in caplog.text and flag not in caplog.text:
            silent.append(flag)
    assert silent == []


# Fields that are read where the configuration itself is, or by a name that is put together.
ELSEWHERE = {"featureGates", "bindAddress", "clusterCIDR", "mode", "nodeStatusUpdateFrequency", "kubeReservedCgroup",
             "systemReservedCgroup"}  # fmt: skip


@pytest.mark.parametrize("name", ["kubelet", "kube-proxy"])
def test_flags_for_fields_of_a_configuration(name: str) -> None:
    """A field that such a flag sets is read, or is one of those whose reasons are told when they are given."""
    places = [str(file.relative_to(SOURCES)) for file in (SOURCES / PROGRAMS[name].sources[0]).rglob("*.py")
              if file.name not in ("config_fields.py", "config_types.py", "config_validation.py", "config.py", "flags.py")]  # fmt: skip
    read = ELSEWHERE.union(_names(*places, *PROGRAMS[name].sources[1:]))
    told = (
        {*config_fields.WITHOUT_EFFECT, *config_fields.REFUSED}
        if name == "kubelet"
        else {*proxy_config.WITHOUT_EFFECT, *proxy_config.REFUSED}
    )
    fields = {
        action.dest.removeprefix("field_")
        for action in _taken(PROGRAMS[name].parser())
        if action.dest.startswith("field_")
    }
    assert sorted(field for field in fields if field.rpartition(".")[2] not in read and field not in told) == []  # fmt: skip
