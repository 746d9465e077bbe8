"""Recordings: files, columns, units, filters, and what is wrong with them."""
