"""Formats a report as text for the terminal."""
