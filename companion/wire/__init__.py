"""Foreign data: files and requests of people, and what leaves the table, by declared types."""
