"""Many draws of one text: how well the discriminator tells replaced tokens from original ones."""
