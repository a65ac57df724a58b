"""What the controller manager knows of a controller before it runs; every program with controllers has the same."""

from pybernetes.runtime.controller_manager.descriptor import Descriptor, Runnable

__all__ = ["Descriptor", "Runnable"]
