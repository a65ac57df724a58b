"""What the kernel tells: changes in folders, mounts, and changes of packet rules."""
