"""kubectl as a program of its own: the launcher starts this file without Python's site module, which costs time.

So the places of modules are set here: this checkout, and the packages of the virtual environment.
"""

import os
import sys


def places() -> list[str]:
    """Return the folders that modules are imported from: the checkout and the packages of the environment."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    environment = os.path.dirname(os.path.dirname(sys.executable))
    if "KUBECTL_BUNDLE" in os.environ:  # packages lie beside ours: see bundle.py
        return [root]
    return [root, os.path.join(environment, "lib", version, "site-packages")]


if __name__ == "__main__":
    sys.path[:] = list(dict.fromkeys([*places(), *sys.path]))
    from pybernetes.tools.kubectl.main import main

    code = main(sys.argv[1:])
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = 141
    os._exit(code)  # nothing is left to do, and taking the interpreter apart takes time
