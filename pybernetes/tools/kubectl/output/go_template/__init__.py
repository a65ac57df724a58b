"""Go's text/template: tokens, a tree, and its walk over a value."""
