"""The mode userspace: the kernel hands traffic to this process, which forwards it."""
