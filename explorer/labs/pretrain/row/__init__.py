"""One row: from two documents to the two losses that BERT was trained on, without any training."""
