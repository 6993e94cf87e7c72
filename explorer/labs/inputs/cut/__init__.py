"""One word: how each tokenizer comes to its cut, step by step."""
