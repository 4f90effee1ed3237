"""Resolves the names of a code base: files, scopes, imports, and values of expressions."""
