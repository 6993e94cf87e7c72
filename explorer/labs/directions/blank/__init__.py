"""One blank, filled by each reader, and what each may look at."""
