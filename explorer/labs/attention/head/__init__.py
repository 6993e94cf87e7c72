"""One head in detail and all heads by one number; a press on a cell of the second opens the first."""
