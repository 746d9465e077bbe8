"""Robot files that nobody here wrote, beside the libraries that their authors use: `make wild`."""
