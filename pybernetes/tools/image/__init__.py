"""Images made of this machine's own programs: of the installation that runs, of etcd, of the pause program."""
