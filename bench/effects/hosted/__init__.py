"""Running a review on the host without a sandbox (`sandbox=unsafe-host`): private directories, no confinement at all.

A command runs as the user of the harness and can reach all that this user can. What is kept apart is kept apart for tidiness
and honest evidence, not for safety; so its evidence has a key of its own and is never applied.
"""
