"""How much to mask: what is named rightly, and at what cost, against the share of hidden tokens."""
