"""Commands of `doit` that are ours, one file per verb; entry points in pyproject.toml name them."""
