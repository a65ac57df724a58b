"""Who owns which field: managedFields of every writer, and server-side apply.

``sets`` is the algebra of field sets, ``elements`` how a list item is named in them, ``fields`` the set of
an object and what differs between two, ``merge`` lays a configuration over an object and takes fields out,
``managed`` keeps the entries of ordinary writers, ``apply`` is server-side apply, ``scale`` carries entries
between a kind and its scale subresource.
"""
