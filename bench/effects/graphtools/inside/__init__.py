"""What runs inside the sandbox of a session. Read as text by the harness, never imported by it."""
