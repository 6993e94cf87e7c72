"""The sum: what is added up for each token, part by part, and one token in detail."""
