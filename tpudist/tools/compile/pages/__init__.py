"""Formats a report as text for the terminal, and as one HTML page."""
