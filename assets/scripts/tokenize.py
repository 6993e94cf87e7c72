"""One text in pieces, by several tokenizers: WordPiece (BERT), byte-level BPE (GPT-2, RoBERTa), SentencePiece unigram."""

from transformers import AutoTokenizer

MODELS = {
    "bert-small": "assets/models/bert-small",
    "unigram": "assets/tokenizers/unigram",
}  # folders, or ids of the hub
TEXT = "Tokenization isn't trivial."

rows = []
for name, place in MODELS.items():
    tokenizer = AutoTokenizer.from_pretrained(place)
    # Special tokens come with it: [CLS] and [SEP] in BERT, <s> and </s> in RoBERTa.
    ids = tokenizer(TEXT)["input_ids"]
    for position, (token_id, token) in enumerate(zip(ids, tokenizer.convert_ids_to_tokens(ids), strict=True)):
        rows.append((name, position, token, token_id, token_id == tokenizer.unk_token_id))

print("model, position, token, id, is_unknown")
for row in rows:
    print(*row)
