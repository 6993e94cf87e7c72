"""Soft targets: what a teacher says of every class, softmax(z / T) (Hinton et al. 2015, equation 1)."""

import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForNextSentencePrediction, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
TEXT = "The keys to the cabinet [MASK] on the table."
SECOND = ""  # a second text, or nothing
TEMPERATURE = 2.0
TOP_K = 8
TRUTH = 0  # which of the likeliest classes the hard label names; 0 is the model's own first choice
QUESTION = "mask"  # what stands at the first mask; or "next": does the second follow; or "continue": what comes next
CLASSES = ()  # of "next"

kinds = {"mask": AutoModelForMaskedLM, "next": AutoModelForNextSentencePrediction, "continue": AutoModelForCausalLM}
tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = kinds[QUESTION].from_pretrained(MODEL, dtype=torch.float32).eval()
texts = [text for text in (TEXT, SECOND) if text]
if tokenizer.mask_token:  # each family spells it in its own way
    texts = [text.replace("[MASK]", tokenizer.mask_token).replace("<mask>", tokenizer.mask_token) for text in texts]
inputs = tokenizer(*texts, return_tensors="pt")
ids = inputs["input_ids"][0].tolist()
place = ids.index(tokenizer.mask_token_id) if QUESTION == "mask" else -1

with torch.no_grad():
    logits = model(**inputs).logits[0]
logits = (logits if QUESTION == "next" else logits[place]).double()  # (classes,)

# T = 1 is the model's own answer. A higher T lifts the small probabilities, in which the teacher says which wrong answers are
# nearly right; a hard label says nothing of them.
soft = (logits / TEMPERATURE).softmax(-1)
entropy = -(soft * soft.log()).sum()
print(f"entropy at T = {TEMPERATURE}: {entropy:.4f} nats")

named = logits.topk(min(TOP_K, len(logits))).indices.tolist()
rows = []
for rank, number in enumerate(named):
    name = CLASSES[number] if CLASSES else tokenizer.decode([number])
    rows.append((name, logits[number].item(), float(rank == TRUTH), soft[number].item()))
if len(named) < len(logits):
    rows.append(("the rest", None, float(len(named) <= TRUTH), 1 - soft[named].sum().item()))

print("target, logit, hard label, soft target")
for row in rows:
    print(*row)
