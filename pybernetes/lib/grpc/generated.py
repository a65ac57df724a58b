"""Messages that protobuf's compiler made and packages ship, without what the packages import besides.

Those packages import grpcio for stubs that are not used here, at 9 MB and a twentieth of a second for every process.
"""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType


def bare_package(name: str) -> None:
    """Make the modules of a package importable without running the package's own first file."""
    if name in sys.modules:
        return
    spec = importlib.util.find_spec(name)
    if spec is None or spec.submodule_search_locations is None:
        raise ImportError(f"no package named {name}")
    module = ModuleType(name)
    module.__path__ = list(spec.submodule_search_locations)
    module.__spec__ = spec
    sys.modules[name] = module
