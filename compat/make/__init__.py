"""What makes the pages of this folder, and the tables that the package reads: a command each."""
