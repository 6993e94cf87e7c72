"""Every head as lines: bertviz's head view and model view in a document of their own."""
