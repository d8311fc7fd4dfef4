"""Edits that nobody thought of, drawn from the schemas of the kinds themselves."""
