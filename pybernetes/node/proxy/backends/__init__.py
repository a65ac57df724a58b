"""How traffic is sent on: one file, or one folder with a file of its name, for each mode of kube-proxy."""
