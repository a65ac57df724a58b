"""kube-apiserver: the one door to the store.

Its rooms stand in layers. A room imports rooms of the layers below its own and no others:

    assembly
    pipeline
    admission, aggregation, audit, custom_resources, virtual_resources
    inprocess, openapi, subresources
    authz, discovery, flowcontrol, verbs, webhooks
    authn, codec, leader_election, services
    encryption, observability, proxy, review_webhooks, storage
    config_reloads, connection, context, forbidden, request, request_info, warning_headers

The last line has the modules of this folder itself: what a request is, and the parts that all rooms share. They name the
types of what they carry, and import no room when they are loaded.
"""
