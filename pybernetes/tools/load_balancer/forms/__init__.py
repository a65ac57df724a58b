"""The forms in which HAProxy balances: a file each."""
