"""One file per place where data is kept; each has NAME, ALIASES and open_store(options)."""
