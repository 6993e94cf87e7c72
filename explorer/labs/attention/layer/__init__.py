"""One layer drawn: its six matrices, the two sums, the norms, and how a matrix is read as heads."""
