"""The command line: every command has upstream's flags and no others, and mistakes get upstream's words."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pybernetes.lib.flags import Flag, Seconds
from pybernetes.tools.kubeadm import command_line
from pybernetes.tools.kubeadm.command_line import Arguments, Command
from pybernetes.tools.kubeadm.commands import completion
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.main import main, root

TABLE = Path(__file__).parent / "data" / "flags.txt"
# What upstream does not have: an addon that is installed if it is named.
OWN = {
    "init phase addon metrics-server",
    "upgrade apply phase addon metrics-server",
    "upgrade node phase addon metrics-server",
}


def test_commands_and_flags_are_those_of_upstream() -> None:
    lines = [line for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    wanted = {
        path: set(flags.split()) for path, _, flags in (line.partition(":") for line in lines)
    }  # fmt: skip
    own = {path: {flag.name for flag in command.flags} for path, command in command_line.walk(root()) if path}
    assert own.keys() - wanted.keys() == OWN
    assert {path: flags for path, flags in own.items() if path not in OWN} == wanted


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("foo", 'unknown command "foo" for "kubeadm"'),
        ("certs foo", 'unknown command "foo" for "kubeadm certs"'),
        ("init foo", 'unknown command "foo" for "kubeadm init"'),
        ("init phase foo", 'unknown command "foo" for "kubeadm init phase"'),
        ("--bogus", "unknown flag: --bogus"),
        ("-x", "unknown shorthand flag: 'x' in -x"),
        ("init phase certs ca --token x", "unknown flag: --token"),
        ("certs certificate-key --config x", "unknown flag: --config"),
        ("init --v", "flag needs an argument: --v"),
        ("token list -o", "flag needs an argument: 'o' in -o"),
        ("init --apiserver-bind-port x",
         'invalid argument "x" for "--apiserver-bind-port" flag: strconv.ParseInt: parsing "x": invalid syntax'),
        ("init --dry-run=foo",
         'invalid argument "foo" for "--dry-run" flag: strconv.ParseBool: parsing "foo": invalid syntax'),
        ("reset -f=foo",
         'invalid argument "foo" for "-f, --force" flag: strconv.ParseBool: parsing "foo": invalid syntax'),
        ("token create --ttl x", 'invalid argument "x" for "--ttl" flag: time: invalid duration "x"'),
        ("join a b", "accepts at most 1 arg(s), received 2"),
        ("kubeconfig user", 'required flag(s) "client-name" not set'),
        ("kubeconfig user --client-name x",  # neither a cluster nor an authority
         "couldn't create a kubeconfig; the CA files couldn't be loaded: failed to load certificate: couldn't load the "
         "certificate file /etc/kubernetes/pki/ca.crt: open /etc/kubernetes/pki/ca.crt: no such file or directory"),
        ("completion", "shell not specified"),
        ("completion foo", 'unsupported shell type "foo", the supported shell types are [bash zsh]'),
        ("config validate", "the --config flag is mandatory"),
        ("config migrate", "the --old-config flag is mandatory"),
        ("upgrade apply", "missing one or more required arguments. Required arguments: [version]"),
        ("init --config a --token b", "can not mix '--config' with arguments [token]"),
        ("--rootfs /nonexistent version", "unable to chroot to /nonexistent: no such file or directory"),
        ("version -o foo", "invalid output format: foo"),
        ("upgrade apply v1.37.0 x", "too many arguments. Required arguments: [version]"),
        ("certs", "subcommand is required"),
        ("init phase certs", "subcommand is required"),
        ("config images list --feature-gates X=true", "unrecognized feature-gate key: X"),
        ("config print init-defaults --component-configs Foo",
         "--component-configs needs to contain some of [KubeProxyConfiguration KubeletConfiguration]"),
        ("certs check-expiration --cert-dir pki --kubeconfig none",
         'certificatesDir: Invalid value: "pki": path is not absolute'),
        ("token list --kubeconfig none", "failed to load admin kubeconfig: open none: no such file or directory"),
        ("upgrade plan --kubeconfig none",
         'couldn\'t create a Kubernetes client from file "none": failed to load admin kubeconfig: open none: '
         "no such file or directory"),
        ("init --config nonexistent",
         'unable to read config from "nonexistent" : open nonexistent: no such file or directory'),
        ("config validate --config nonexistent", "open nonexistent: no such file or directory"),
        ("init --token foo",
         'the bootstrap token "foo" was not of the form "\\\\A([a-z0-9]{6})\\\\.([a-z0-9]{16})\\\\z"'),
    ],
)  # fmt: skip
def test_mistakes(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 1
    shown = capsys.readouterr().err
    assert shown == f"error: {message}\nTo see the stack trace of this error execute with --v=5 or higher\n"


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        ("", 0, "kubeadm [command]"),
        ("--help", 0, "  upgrade "),
        ("certs", 1, "kubeadm certs [command]"),
        ("init phase certs", 1, "  apiserver-etcd-client"),
        ("help init phase addon coredns", 0, "--print-manifest"),
        ("join -h", 0, "kubeadm join [api-server-endpoint] [flags]"),
        ("version -o short", 0, "v1.37.0"),
        ("-v 1 version -oshort", 0, "v1.37.0"),
    ],
)
def test_help(words: str, code: int, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == code
    assert text in capsys.readouterr().out


def test_values() -> None:
    flags = (
        Flag("upload-certs", False),
        Flag("skip-phases", ()),
        Flag("ttl", Seconds(1)),
        Flag("port", 6443),
    )
    command = Command("x", "", flags=flags, others=(Flag("config", "none"),))
    parsed = command_line.parse(
        command,
        [
            "a",
            "--upload-certs",
            "b",
            "--skip-phases=a,b",
            "--skip-phases",
            "c",
            "--ttl",
            "1m",
            "--",
            "--port",
        ],
    )
    assert (
        parsed.words == ["a", "b", "--port"] and parsed.upload_certs and parsed.skip_phases == ("a", "b", "c")
    )
    assert parsed.ttl == 60 and parsed.port == 6443 and parsed.config == "none"
    assert parsed.given == {"upload-certs", "skip-phases", "ttl"}
    with pytest.raises(KubeadmError, match="unknown flag: --config"):
        command_line.parse(command, ["--config=a"])


def test_shells_complete_commands_and_flags() -> None:
    script = completion.script(root(), "bash")
    lines = 'COMP_WORDS=(kubeadm init phase c); COMP_CWORD=3; _kubeadm; echo "${COMPREPLY[@]}"\n'
    lines += 'COMP_WORDS=(kubeadm token --dr); COMP_CWORD=2; _kubeadm; echo "${COMPREPLY[@]}"\n'
    shown = subprocess.run(["bash", "-c", script + lines], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines() == ["certs control-plane", "--dry-run"]


def test_phases_of_init_find_all_that_they_share_at_its_defaults() -> None:
    shared = {"print-manifest", "upload-certs", "kubeconfig", "kubeconfig-dir", "patches", "dry-run"}
    for path, command in command_line.walk(root()):
        if path.startswith("init phase") and command.run is not None:
            assert shared <= {flag.name for flag in (*command.flags, *command.others)}, path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RootlessControlPlane", "missing bool value for feature-gate key:RootlessControlPlane"),
        ("Other=true", "unrecognized feature-gate key: Other"),
        (
            "RootlessControlPlane=x",
            r"invalid value x for feature-gate key: RootlessControlPlane, use true\|false",
        ),
    ],
)
def test_feature_gates_of_a_flag_are_checked_as_upstream_does(text: str, message: str) -> None:
    assert command_line.pairs("RootlessControlPlane=false") == {"RootlessControlPlane": False}
    with pytest.raises(KubeadmError, match=message):
        command_line.pairs(text)


def test_a_dry_run_is_what_the_flag_says_or_else_the_configuration() -> None:
    silent, spoken = frozenset[str](), frozenset(("dry-run",))
    assert Arguments(dry_run=False, given=silent).is_dry_run({"dryRun": True})
    assert not Arguments(dry_run=False, given=silent).is_dry_run({})
    assert not Arguments(dry_run=False, given=spoken).is_dry_run({"dryRun": True})
    assert Arguments(dry_run=True, given=spoken).is_dry_run({})
