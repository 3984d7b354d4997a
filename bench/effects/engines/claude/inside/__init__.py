"""Programs that run inside a sandbox only, given to its interpreter as text; each stands alone on the standard library."""
