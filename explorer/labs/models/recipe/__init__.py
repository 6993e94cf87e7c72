"""From BERT's recipe to RoBERTa's: what each step was worth, quoted."""
