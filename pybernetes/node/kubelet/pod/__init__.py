"""One pod's life on the node: ``pod_worker`` runs it, ``plan`` (pure) decides, ``pod_starter`` and ``pod_stopper`` act."""
