"""Paul's and Pieper's methods: derivation, branches, text and code."""
