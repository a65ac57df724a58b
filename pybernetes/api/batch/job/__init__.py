"""The kind Job: its spec, its policies and how its status may change."""
