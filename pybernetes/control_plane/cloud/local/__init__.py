"""The cloud of one machine: its instances are the nodes that ``pyb up`` makes, its load balancers rules of the kernel.

What touches the machine is behind ``machine.Machine``; ``tools/local`` implements it with the help of root.
"""
