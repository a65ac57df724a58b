"""The scheduler: chooses a node for each pod that has none. Decisions are pure; only the outer files do I/O."""
