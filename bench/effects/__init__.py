"""The only code that touches the world. It carries; it does not judge."""
