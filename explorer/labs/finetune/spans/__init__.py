"""A question to a run that finds answers in a text: where each token says that the answer starts and ends, and the best spans."""
