"""What iptables-save printed: chains, jumps, and how to be rid of ours. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from pybernetes.node.proxy.iptables.chains import Jump


def chains(saved: str) -> dict[str, list[str]]:
    """Return the names of the chains, by table."""
    result: dict[str, list[str]] = {}
    table = ""
    for line in saved.splitlines():
        if line.startswith("*"):
            table = line[1:]
        elif line.startswith(":"):
            result.setdefault(table, []).append(line[1:].split(" ", 1)[0])
    return result


def has_jump(saved: str, jump: Jump) -> bool:
    """Return whether one of our chains is entered already."""
    return (
        re.search(rf"^-A {jump.base} .*-j {jump.chain}$", _table(saved, jump.table), re.MULTILINE) is not None
    )


def removal(saved: str, tables: Iterable[str], ours: Callable[[str, str], bool]) -> str:
    """Return what iptables-restore has to read so that our chains, told by table and name, and jumps to them are gone."""
    text: list[str] = []
    present = chains(saved)
    for table in tables:
        own = [name for name in present.get(table, ()) if ours(table, name)]
        jumps = [line for line in _table(saved, table).splitlines()
                 if line.startswith("-A ") and line.split(" ")[1] not in own
                 and line.rpartition("-j ")[2].split(" ")[0] in own]  # fmt: skip
        if own:
            text += [f"*{table}", *(f":{name} - [0:0]" for name in own)]
            text += [f"-D {line[3:]}" for line in jumps]
            text += [*(f"-X {name}" for name in own), "COMMIT"]
    return "\n".join([*text, ""]) if text else ""


def _table(saved: str, name: str) -> str:
    """Return what was printed of one table."""
    return saved.partition(f"*{name}\n")[2].partition("\nCOMMIT")[0]
