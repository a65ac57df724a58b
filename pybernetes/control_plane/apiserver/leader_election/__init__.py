"""Coordinated leader election: of the candidates for a lease the server chooses the one that leads.

``election`` decides from the lease and its candidates what comes next and is pure; ``controller`` does it, in one of the
servers that share a store. It is on where the feature gate CoordinatedLeaderElection is.
"""
