"""Why T^2 stands in the soft loss: its gradient with respect to the student's logits (Hinton et al. 2015, section 2)."""

import torch
from torch import nn
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForNextSentencePrediction, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
TEXT = "The keys to the cabinet [MASK] on the table."
SECOND = ""  # a second text, or nothing
STUDENT_LAYERS = 0  # of the teacher's layers, evenly from the first one; 0: every second
QUESTION = "mask"  # what stands at the first mask; or "next": does the second follow; or "continue": what comes next
LAYERS = "bert.encoder.layer"  # where this family keeps its layers

kinds = {"mask": AutoModelForMaskedLM, "next": AutoModelForNextSentencePrediction, "continue": AutoModelForCausalLM}
tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = kinds[QUESTION].from_pretrained(MODEL, dtype=torch.float32).eval()
model.config.use_cache = False
texts = [text for text in (TEXT, SECOND) if text]
if tokenizer.mask_token:  # each family spells it in its own way
    texts = [text.replace("[MASK]", tokenizer.mask_token).replace("<mask>", tokenizer.mask_token) for text in texts]
inputs = tokenizer(*texts, return_tensors="pt")
ids = inputs["input_ids"][0].tolist()
place = ids.index(tokenizer.mask_token_id) if QUESTION == "mask" else 0 if QUESTION == "next" else -1


def ask():
    """The logits, (classes,)."""
    with torch.no_grad():
        logits = model(**inputs).logits[0]
    return (logits if QUESTION == "next" else logits[place]).double()


teacher = ask()
# The student is the teacher with some of its layers: embeddings and head stay as they are.
path, _, name = LAYERS.rpartition(".")
layers = model.get_submodule(LAYERS)
count = STUDENT_LAYERS or max(1, len(layers) // 2)
kept = [layers[number * len(layers) // count] for number in range(count)]
setattr(model.get_submodule(path), name, nn.ModuleList(kept))
model.config.num_hidden_layers = count
student = ask()

# The gradient of KL(p || q) at temperature T is (q - p) / T: with both answers nearly even for large T, about 1/T^2.
rows = []
for step in range(37):  # from 0.1 to 100
    T = 10 ** (step / 12 - 1)
    gradient = ((student / T).softmax(-1) - (teacher / T).softmax(-1)) / T
    rows.append((T, gradient.norm().item(), T**2 * gradient.norm().item()))

print("temperature, norm of the gradient, the same times T^2")
for row in rows:
    print(*row)
