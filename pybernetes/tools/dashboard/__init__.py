"""The dashboard: a small server on this machine, and the pages that it serves from ``frontend``.

``docs/dashboard.md`` is the guide. ``application`` answers requests, ``guard`` and ``sessions`` say who may ask,
``api_proxy`` passes the API on as the user, ``live_stream`` carries what changes, ``search_index`` is the search.
Layers: imports the libraries only; it knows clusters through the API and nothing else.
"""
