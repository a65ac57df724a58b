"""Other programs run and kept in the background, and rights that a process gives up."""
