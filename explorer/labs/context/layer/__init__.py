"""One layer of the comparison: the word's vectors in a plane, and how alike each two of them are."""
