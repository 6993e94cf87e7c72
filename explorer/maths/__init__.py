"""What the labs compute, in torch alone: no model names, no interface."""
