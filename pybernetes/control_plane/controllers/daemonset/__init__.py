"""DaemonSet: one pod on every node that will have it."""
