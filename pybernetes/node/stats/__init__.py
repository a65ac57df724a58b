"""What a machine, its control groups, networks and filesystems use: what cAdvisor tells a kubelet.

``cgroup`` reads control groups (v1 and v2), ``network`` interfaces, ``filesystem`` disks and folders, ``host`` the
machine as a whole. Nothing is watched and nothing is kept: a figure is read when somebody asks for it.
"""
