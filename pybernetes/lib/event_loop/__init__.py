"""The event loop, never held for long: large work in slices or beside it, time limits, and who holds it all the same."""
