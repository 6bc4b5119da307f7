"""One evening at one table: the only place that changes its state."""
