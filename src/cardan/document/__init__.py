"""Documents: headings, words, tables, equations and drawings, written in four languages."""
