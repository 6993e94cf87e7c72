"""Compare all: every method on one task with the same data and seed, live, and what each costs."""
