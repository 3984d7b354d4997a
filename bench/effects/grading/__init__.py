"""Grading: what runs after a session's process tree is dead. It runs verifiers on frozen views and judges nothing."""
