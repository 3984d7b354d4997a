"""Rendering of reports: plain values in, HTML, Markdown and console text out. It decides nothing and fetches nothing."""
