"""Words that the visitor replaces by hand, before the discriminator."""
