"""Where the time of a process goes, in the format of pprof."""
