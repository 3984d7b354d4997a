"""Assay: make for agent evidence. Importing this package reads, prints and makes nothing."""
