"""A machine of its own for a cluster: a network namespace with a way to somebody outside."""

from __future__ import annotations

import contextlib
import difflib
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.node.proxy.namespaces import command, inside
from tests.support import end, until

ADDRESS, OUTSIDE = "192.168.77.2", "192.168.77.1"
# What iptables makes by being used, and never removes: the kernel's own chains, with nothing in them.
_EMPTY = re.compile(
    r"\tchain [A-Z]+ \{\n(\t\ttype .*\n)?\t\}\n|table ip6? \w+ \{\s*\}\n|^# Warning.*\n", re.MULTILINE
)
# What the kernel counts, or makes up when it is asked.
_COUNTS = re.compile(
    r"net\.(netfilter\.nf_conntrack_count|.*random|.*fastopen_key)|.*(entropy|stable_secret)"
)


class Host:
    """The machine, where this thread is, and ``outside``: a namespace that knows nothing of clusters."""

    def __init__(self, name: str) -> None:
        self.outside = f"{name}-outside"

    def answers(self, url: str) -> str:
        """Return what somebody outside gets."""
        words = ["ip", "netns", "exec", self.outside, "curl", "-s", "-m", "2", f"http://{url}/"]
        return subprocess.run(words, capture_output=True, text=True).stdout

    def is_answered(self, url: str) -> bool:
        """Return whether somebody outside gets the page."""
        return self.answers(url).startswith("web-")

    @contextmanager
    def serving(self, folder: Path, port: int) -> Iterator[None]:
        """Let somebody outside serve a folder."""
        words = ["ip", "netns", "exec", self.outside, "busybox", "httpd", "-f", "-p", str(port), "-h", str(folder)]  # fmt: skip
        process = subprocess.Popen(words)
        try:
            yield
        finally:
            end(process)

    def state(self) -> str:
        """Return everything of this machine's network that a cluster may have changed."""
        rules = command("nft", "list", "ruleset")
        while rules != (fewer := _EMPTY.sub("", rules).replace("\n\n", "\n")):
            rules = fewer
        links = [line.split()[0] for line in command("ip", "-brief", "link").splitlines()]
        routes = [command("ip", family, "route") + command("ip", family, "rule") for family in ("-4", "-6")]
        neighbours = command("ip", "neighbour", "show", "nud", "permanent")
        text = [rules, *sorted(links), *routes, neighbours, *_kernel_settings()]
        return "\n".join(text).replace(" linkdown", "")  # for a moment, at first


def _kernel_settings() -> list[str]:
    """Return the kernel's settings of the network, but for those that count something."""
    lines = subprocess.run(["sysctl", "-a", "--pattern", "^net[.]"], capture_output=True, text=True).stdout
    return [line for line in lines.splitlines() if not _COUNTS.match(line)]


@contextmanager
def host(name: str, *, forwards: bool = False) -> Iterator[Host]:
    """Yield this thread, and what it starts, is on the machine meanwhile; afterwards it is as it was before.

    ``forwards`` says whether the machine forwards packets already. What a whole cluster makes puts that back as it was
    (kernel_settings.py); who makes a bridge alone begins on a machine that does.
    """
    machine = Host(name)
    try:
        for namespace in (name, machine.outside):
            command("ip", "netns", "add", namespace)
            command("ip", "-netns", namespace, "link", "set", "lo", "up")
        command("ip", "-netns", name, "link", "add", "eth0", "type", "veth", "peer", "name", "eth0",
                "netns", machine.outside)  # fmt: skip
        for namespace, address in ((name, ADDRESS), (machine.outside, OUTSIDE)):
            command("ip", "-netns", namespace, "address", "add", f"{address}/24", "dev", "eth0")
            # No addresses and routes that come by themselves, whenever the kernel finds the time.
            command("ip", "-netns", namespace, "link", "set", "eth0", "addrgenmode", "none", "up")
        command("ip", "-netns", name, "route", "add", "default", "via", OUTSIDE)
        with inside(name):
            # A new namespace has what this machine has at the moment. Forwarding changes the other setting as well.
            for setting in (f"ip_forward={int(forwards)}", "conf.all.accept_redirects=0"):
                command("sysctl", "-qw", f"net.ipv4.{setting}")
            before = machine.state()
            yield machine
            with contextlib.suppress(AssertionError):
                until(lambda: machine.state() == before)  # the kernel takes its time to let links go
            after = machine.state()
            difference = difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after")
            assert after == before, "\n".join(difference)
    finally:
        for namespace in (name, machine.outside):
            subprocess.run(["ip", "netns", "delete", namespace], capture_output=True)
