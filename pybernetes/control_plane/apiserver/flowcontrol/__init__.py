"""API priority and fairness: no client, however noisy, takes the server away from the others.

``flow_schema`` says which flow a request belongs to, ``fair_queues`` who is next, ``priority_level`` how many may be at
work at once, ``defaults`` are the objects that every cluster starts with, ``configuration`` follows the objects, and
``dispatcher`` gives each request its ticket. The step of a request is ``pipeline/steps/flow_control.py``.
"""
