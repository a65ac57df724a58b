"""Whose removal of rules the kernel reports."""

from __future__ import annotations

import asyncio
import struct
import subprocess
import sys

from pybernetes.lib.kernel.rule_monitor import Reader
from tests.node.proxy.namespaces import needs_namespaces


def message(kind: int, body: bytes, port: int) -> bytes:
    length = 16 + len(body)
    return struct.pack("=IHHII", length, kind, 0, 0, port) + body + b"\0" * (-length % 4)


def test_who_removed_rules() -> None:
    deleted, generation = 10 << 8 | 8, 10 << 8 | 15
    ours, others = (
        b"\2\0\0\0" + struct.pack("=HH", 4 + len(name), 2) + name for name in (b"KUBE-SVC-A\0", b"CNI-X\0")
    )
    end = message(generation, b"\0\0\0\0", 4242)

    def reader() -> Reader:
        return Reader((b"KUBE-",))

    assert list(reader().read(message(deleted, ours, 4242) + end)) == [4242]
    assert list(reader().read(message(deleted, others, 4242) + end)) == []
    own = reader()
    assert list(own.read(message(deleted, ours, 4242))) == []
    assert list(own.read(end * 2)) == [4242]
    assert list(own.read(b"\0" * 20)) == []


@needs_namespaces
async def test_own_changes_are_told_from_those_of_others_in_a_container_too() -> None:
    """Processes have other numbers in a container than the kernel says to the machine."""
    code = (
        "import asyncio\n"
        "from pybernetes.lib.processes.commands import run\n"
        "from pybernetes.lib.kernel.rule_monitor import RuleMonitor\n"
        "async def main():\n"
        "    removals, seen = [], asyncio.Event()\n"
        "    monitor = RuleMonitor('test', (b'ours-',), lambda: (removals.append(1), seen.set()))\n"
        "    monitor.start()\n"
        "    for _ in range(3):\n"
        "        with monitor.own_change(large=False):\n"
        "            await run('nft', 'add table ip ours-x; delete table ip ours-x')\n"
        "    await asyncio.sleep(0)\n"
        "    print(len(removals), flush=True)\n"
        "    process = await asyncio.create_subprocess_exec('nft', 'add table ip ours-x; delete table ip ours-x')\n"
        "    await process.wait()\n"
        "    await seen.wait()\n"
        "    print(len(removals))\n"
        "asyncio.run(main())\n"
    )
    words = ["unshare", "--net", "--pid", "--fork", "--mount-proc", sys.executable, "-c", code]
    done = await asyncio.to_thread(subprocess.run, words, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["0", "1"], done.stderr
