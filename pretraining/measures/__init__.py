"""What a pretrained model can do, measured on text that it never saw: one file a kind of head."""
