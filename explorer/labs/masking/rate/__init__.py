"""How much to mask: accuracy and loss of the hidden tokens against their share."""
