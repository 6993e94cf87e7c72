"""Where weights begin: encoders that somebody has already trained, put under a new vocabulary or into a new form."""
