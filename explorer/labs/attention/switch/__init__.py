"""Switch heads off: of the chosen model, or of a fine-tuned classifier, and see what it says then."""
