"""Replacing files of a tree, all or nothing: `replacing` does it, `exchange` is the system call, `recovery` the way back."""
