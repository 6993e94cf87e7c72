"""The same over fifty sentences, of which one side or neither tells the word."""
