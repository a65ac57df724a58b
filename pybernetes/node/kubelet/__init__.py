"""kubelet: makes the containers of a node match the pods that are bound to it, and reports how they are.

``kubelet`` puts the rooms together; ``pod`` is the life of one pod; ``context`` is what the rooms share.
"""
