"""One pod's life: the worker, the plan (pure) and its execution."""
