"""The labs' computations, in torch alone: no model names, no interface."""
