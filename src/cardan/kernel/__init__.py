"""The second language: loops and branches over arrays, written once, printed in every language."""
