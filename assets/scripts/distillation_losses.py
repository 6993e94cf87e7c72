"""The losses between a teacher and a student on one text (Hinton et al. 2015, section 2; Sanh et al. 2019, section 3)."""

import torch
from torch import nn
from torch.nn.functional import cosine_similarity, cross_entropy, kl_div, mse_loss
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForNextSentencePrediction, AutoTokenizer

MODEL = "assets/models/bert-small"  # a folder, or an id of the Hugging Face hub
TEXT = "The keys to the cabinet [MASK] on the table."
SECOND = ""  # a second text, or nothing
TEMPERATURE = 2.0
ALPHA = 0.5  # the share of the soft loss in the weighted average
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
    """The logits, (1, classes), and the last layer's states, (tokens, width)."""
    with torch.no_grad():
        output = model(**inputs, output_hidden_states=True)
    logits = output.logits if QUESTION == "next" else output.logits[:, place]
    return logits.double(), output.hidden_states[-1][0].double()


teacher, teacher_states = ask()
# The student is the teacher with some of its layers: embeddings and head stay as they are.
path, _, name = LAYERS.rpartition(".")
layers = model.get_submodule(LAYERS)
count = STUDENT_LAYERS or max(1, len(layers) // 2)
kept = [layers[number * len(layers) // count] for number in range(count)]
setattr(model.get_submodule(path), name, nn.ModuleList(kept))
model.config.num_hidden_layers = count
student, student_states = ask()

# KL compares the softened answers. Its gradient falls with 1/T^2, so T^2 keeps it as large beside the hard loss.
T = TEMPERATURE
kl = kl_div((student / T).log_softmax(-1), (teacher / T).log_softmax(-1), log_target=True, reduction="batchmean").item()
hard = cross_entropy(student, teacher.argmax(-1)).item()  # against the teacher's first choice
rows = [
    ("soft", T**2 * kl),
    ("kl", kl),
    ("l2", mse_loss(student, teacher).item()),
    ("hard", hard),
    ("weighted", ALPHA * T**2 * kl + (1 - ALPHA) * hard),
    ("cosine", 1 - cosine_similarity(student_states[place], teacher_states[place], dim=0).item()),
    ("cosine_mean", 1 - cosine_similarity(student_states.mean(0), teacher_states.mean(0), dim=0).item()),
]
print("loss, value")
for row in rows:
    print(*row)
