"""Why a model that sees both sides is not trained on the next word: the word reaches its own prediction."""
