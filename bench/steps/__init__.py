"""One thin module per step: read, call core and effects, write. No step imports a step."""
