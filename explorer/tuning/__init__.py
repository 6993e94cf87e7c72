"""Fine-tuning of one shared model: methods, training, and the files that a run leaves behind."""
