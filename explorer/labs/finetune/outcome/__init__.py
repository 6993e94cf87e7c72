"""What a finished run gets right and wrong: the confusion matrix or the scatter, and the mistakes."""
