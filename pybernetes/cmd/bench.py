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
    modules = sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))
    names = {module.replace("_", "-"): module for module in modules}
    chosen = argv[0].replace("_", "-") if argv else ""
    if chosen in names:
        from bench.harness.orderly_exit import orderly_exit

        with orderly_exit():
            return import_module(f"bench.{names[chosen]}").main(argv[1:])
    wants_help = bool(argv) and argv[0] in ("-h", "--help")
    lines = ["Usage: pyb bench NAME [ARGUMENT…]", "", "Benchmarks:"]
    lines += [f"  {name}  {import_module(f'bench.{module}').SUMMARY}" for name, module in names.items()]
    print("\n".join(lines), file=sys.stdout if wants_help else sys.stderr)
    return 0 if wants_help else 2
