"""Take out: parts really removed, with what that gains, and the model to take home; and one step against many."""
