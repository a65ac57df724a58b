"""How the kernel, or a program, is had to do it: one file for each mode of kube-proxy."""
