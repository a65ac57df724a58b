"""All programs in one: `pyb PROGRAM …`, or a link to pyb that is named like a program."""

import os
import sys
from importlib import import_module

PACKAGE = "pybernetes.cmd"


def main(argv: list[str] | None = None) -> int:
    """Run the program that the arguments (by default the process's own) name."""
    if argv is None:
        argv = sys.argv
    called_as = os.path.basename(argv[0])
    if _exists(called_as):
        return _run(called_as, argv[1:])
    if len(argv) < 2 or argv[1] in ("-h", "--help", "help"):
        print(_help())
        return 0
    name = "version" if argv[1] == "--version" else argv[1]
    if not _exists(name):
        listing = "\n".join(f"  {program}" for program in programs())
        print(f"pyb: there is no program {name!r}. The programs are:\n{listing}", file=sys.stderr)
        return 2
    return _run(name, argv[2:])


def programs() -> list[str]:
    """Name every program, importing none."""
    from pybernetes.lib.discover import names

    return [_program(module) for module in names(PACKAGE) if module != "main"]


def _run(program: str, arguments: list[str]) -> int:
    try:
        # Only the chosen program is imported: the start of one must not pay for the others.
        return import_module(f"{PACKAGE}.{_module(program)}").main(arguments)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader has gone, as in `pyb … | head`. Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def _exists(program: str) -> bool:
    module = _module(program)
    if module in ("main", "__init__") or "_" in program or not module.isidentifier():
        return False
    return os.path.exists(os.path.join(os.path.dirname(__file__), f"{module}.py"))


def _help() -> str:
    rows = [(name, import_module(f"{PACKAGE}.{_module(name)}").SUMMARY) for name in programs()]
    width = max(len(name) for name, _ in rows)
    lines = ["Usage: pyb PROGRAM [ARGUMENT…]", "", "Programs:"]
    lines += [f"  {name:<{width}}  {summary}" for name, summary in rows]
    lines += ["", "`pyb PROGRAM --help` explains one of them."]
    return "\n".join(lines)


def _module(program: str) -> str:
    return program.replace("-", "_")


def _program(module: str) -> str:
    return module.replace("_", "-")


if __name__ == "__main__":
    sys.exit(main())
