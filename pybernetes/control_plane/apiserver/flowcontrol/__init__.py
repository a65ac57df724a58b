"""API priority and fairness: no client, however noisy, takes the server away from the others.

``classify`` says which flow a request belongs to, ``queues`` who is next, ``levels`` how many may be at work at
once, ``defaults`` are the objects that every cluster starts with, ``controller`` follows the objects, ``gate`` is
the step of the chain.
"""
