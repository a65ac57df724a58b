"""A machine of its own for a cluster: a network namespace with a way to somebody outside."""

from __future__ import annotations

import difflib
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.node.proxy.namespaces import command, inside

ADDRESS, OUTSIDE = "192.168.77.2", "192.168.77.1"
# What iptables makes by being used, and never removes: the kernel's own chains, with nothing in them.
_EMPTY = re.compile(
    r"\tchain [A-Z]+ \{\n(\t\ttype .*\n)?\t\}\n|table ip6? \w+ \{\s*\}\n|^# Warning.*\n", re.MULTILINE
)


class Host:
    """The machine, where this thread is, and ``outside``: a namespace that knows nothing of clusters."""

    def __init__(self, name: str) -> None:
        self.outside = f"{name}-outside"

    def answers(self, url: str) -> str:
        """What somebody outside gets."""
        words = ["ip", "netns", "exec", self.outside, "curl", "-s", "-m", "2", f"http://{url}/"]
        return subprocess.run(words, capture_output=True, text=True).stdout

    @contextmanager
    def serving(self, folder: Path, port: int) -> Iterator[None]:
        """Somebody outside serves a folder."""
        words = ["ip", "netns", "exec", self.outside, "busybox", "httpd", "-f", "-p", str(port), "-h", str(folder)]  # fmt: skip
        process = subprocess.Popen(words)
        try:
            yield
        finally:
            process.terminate()
            process.wait()

    def state(self) -> str:
        """Everything of this machine's network that a cluster may have changed."""
        rules = command("nft", "list", "ruleset")
        while rules != (fewer := _EMPTY.sub("", rules).replace("\n\n", "\n")):
            rules = fewer
        links = [line.split()[0] for line in command("ip", "-brief", "link").splitlines()]
        routes = [command("ip", family, "route") + command("ip", family, "rule") for family in ("-4", "-6")]
        return "\n".join([rules, *sorted(links), *routes]).replace(" linkdown", "")  # for a moment, at first


@contextmanager
def host(name: str) -> Iterator[Host]:
    """This thread, and what it starts, is on the machine meanwhile; afterwards it is as it was before."""
    made = Host(name)
    try:
        for each in (name, made.outside):
            command("ip", "netns", "add", each)
            command("ip", "-netns", each, "link", "set", "lo", "up")
        command("ip", "-netns", name, "link", "add", "eth0", "type", "veth", "peer", "name", "eth0",
                "netns", made.outside)  # fmt: skip
        for each, address in ((name, ADDRESS), (made.outside, OUTSIDE)):
            command("ip", "-netns", each, "address", "add", f"{address}/24", "dev", "eth0")
            # No addresses and routes that come by themselves, whenever the kernel finds the time.
            command("ip", "-netns", each, "link", "set", "eth0", "addrgenmode", "none", "up")
        command("ip", "-netns", name, "route", "add", "default", "via", OUTSIDE)
        with inside(name):
            before = made.state()
            yield made
            deadline = time.monotonic() + 60
            while (after := made.state()) != before:  # the kernel takes its time to let links go
                difference = "\n".join(
                    difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after")
                )
                assert time.monotonic() < deadline, difference
                time.sleep(0.1)
    finally:
        for each in (name, made.outside):
            subprocess.run(["ip", "netns", "delete", each], capture_output=True)
