"""pyb bench NAME …: runs one of the benchmarks in the checkout's bench/ folder."""

import sys
from importlib import import_module

from pybernetes.cmd._checkout import checkout_folder

SUMMARY = "run a benchmark against any Kubernetes cluster: pyb bench api --kubeconfig FILE"


def main(argv: list[str]) -> int:
    """Run the benchmark that the first argument names with the rest of the arguments."""
    folder = checkout_folder("bench")
    if folder is None:
        return 1
    if str(folder.parent) not in sys.path:
        sys.path.insert(0, str(folder.parent))
    names = sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))
    if argv and argv[0] in names:
        from bench.harness.orderly_exit import orderly_exit

        with orderly_exit():
            return import_module(f"bench.{argv[0]}").main(argv[1:])
    wants_help = bool(argv) and argv[0] in ("-h", "--help")
    lines = ["Usage: pyb bench NAME [ARGUMENT…]", "", "Benchmarks:"]
    lines += [f"  {name}  {import_module(f'bench.{name}').SUMMARY}" for name in names]
    print("\n".join(lines), file=sys.stdout if wants_help else sys.stderr)
    return 0 if wants_help else 2
