"""Programs for people: what is not part of a cluster but makes, fills and watches one."""
