"""What the formats in XML share: text and numbers of files, tables of what they mean, writers."""
