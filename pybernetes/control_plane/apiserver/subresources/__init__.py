"""What hangs below an object's path: one file per subresource, named like it, with a function ``handle``."""
