"""The doit side: backend, checker, pipeline helpers, reporter, commands."""
