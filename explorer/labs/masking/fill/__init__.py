"""Fill: a sentence, its tokens to press, the predictions as bars, other models beside."""
