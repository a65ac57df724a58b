"""How objects are printed: a file or folder for each output format, and the tables, times and sorting that they share."""
