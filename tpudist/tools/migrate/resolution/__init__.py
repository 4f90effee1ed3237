"""What the names of a code base mean: files, scopes, imports, and values of expressions."""
