"""The control loops of kube-controller-manager, one file per controller.

A module here is a controller if its name does not begin with an underscore. It has one ``CONTROLLER``, a
``Descriptor`` with upstream's name and aliases, the flags it reads, and the function that builds it.
"""
