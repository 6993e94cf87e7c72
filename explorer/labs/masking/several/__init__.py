"""Several blanks: filled each alone, one after another, or over and over, and what the whole is worth."""
