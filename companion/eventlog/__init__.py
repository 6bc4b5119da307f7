"""The event log: records on disk, and the table state that follows from them."""
