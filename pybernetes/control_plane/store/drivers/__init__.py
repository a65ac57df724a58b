"""One file per place where data is kept; each has NAME and open_store(**options)."""
