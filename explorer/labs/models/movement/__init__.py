"""How far each layer moves what it is given."""
