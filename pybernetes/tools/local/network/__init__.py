"""The networks of local clusters on this machine: bridges, namespaces, routes, rules, and where things are reached."""
