"""Does the second sentence follow the first? BERT's next-sentence prediction (Devlin et al. 2019, section 3.1, task 2)."""

import torch
from transformers import AutoModelForNextSentencePrediction, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
SENTENCE_A = "She put the kettle on."
SENTENCE_B = "A few minutes later the tea was ready."

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForNextSentencePrediction.from_pretrained(MODEL, dtype=torch.float32).eval()

# Two texts become one input, [CLS] A [SEP] B [SEP]; token_type_ids say which of the two a token is of.
inputs = tokenizer(SENTENCE_A, SENTENCE_B, return_tensors="pt")
print(tokenizer.convert_ids_to_tokens(inputs["input_ids"][0]))
print(inputs["token_type_ids"][0].tolist())

# The head reads the vector of [CLS] alone: a dense layer with tanh (the pooler), then two scores.
with torch.no_grad():
    logits = model(**inputs).logits[0]
probabilities = logits.softmax(-1)
losses = -logits.log_softmax(
    -1
)  # the term of the pretraining loss if that class is the true one; a coin has ln 2 = 0.693

rows = list(zip(("is_next", "not_next"), logits.tolist(), probabilities.tolist(), losses.tolist(), strict=True))
print("class, logit, probability, loss")
for row in rows:
    print(*row)
