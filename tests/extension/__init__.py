"""What tests/test_extension.py adds to the app: a lab, a family and a fine-tuning method, a file or a folder each."""
