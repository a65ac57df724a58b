"""CEL: expressions of validation rules and policies. ``engine`` compiles and evaluates, ``functions`` are the
libraries that Kubernetes adds, ``values`` turns JSON into what expressions see of it."""
