"""Kinds that say where traffic goes, one to a file: each becomes routes, and the reasons why some cannot."""
