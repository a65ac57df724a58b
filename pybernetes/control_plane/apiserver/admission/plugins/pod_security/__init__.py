"""PodSecurity: the plugin, its configuration, and what it says of pods that exist already."""
