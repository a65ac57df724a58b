"""API servers behind the API server: what every one of them needs, whatever it serves.

``api_group`` is what such a server implements, ``documents`` describes it to clients (discovery and OpenAPI, pure),
``tables`` prints objects, ``aggregated_server`` answers over HTTPS and asks the API server who may see what,
``request_header_config`` follows whom the API server says to trust.
"""
