"""A report as people read it: as text on a terminal, and as one HTML page."""
