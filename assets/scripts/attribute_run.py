"""Which tokens a classifier's answer hangs on, by captum: integrated gradients (Sundararajan et al. 2017) and others."""

from pathlib import Path

import torch
from captum.attr import InputXGradient, IntegratedGradients, Saliency
from peft import LoraConfig, get_peft_model, set_peft_model_state_dict
from safetensors.torch import load_file
from transformers import AutoModelForSequenceClassification, AutoTokenizer

MODEL = "assets/models/bert-small"  # the model that was fine-tuned
WEIGHTS = "assets/runs/example-lora-8/weights.safetensors"  # what was trained
LABELS = ("negative", "positive")
SENTENCE_A = "A film that one remembers."
SENTENCE_B = ""  # for tasks on pairs
IS_LORA = True  # else the file holds whole tensors of the model: the head alone, or biases
RANK = 8
ALPHA = 16.0
RSLORA = False
DORA = False
TARGETS = r"bert\.encoder\.layer\.\d+\.(attention\.self\.query|attention\.self\.value)"  # the matrices with an update
PLACE = 0  # the position that the classifier reads
TARGET = 1996  # the answer that is explained: its number among the classes
METHODS = ("integrated_gradients", "gradient_x_input", "saliency", "occlusion", "rollout")
BASELINE = "mask"  # what stands for a missing token: "mask", "pad" or "zero"
STEPS = 50  # of integrated gradients
UNITS = ((0,), (1,), (2,))  # the positions of each token or word
KEPT = (0,)  # special tokens and the mask that is asked: the baseline leaves them alone

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForSequenceClassification.from_pretrained(
    MODEL, num_labels=len(LABELS), dtype=torch.float32, attn_implementation="eager"
)
tensors = load_file(Path(WEIGHTS).expanduser())
if IS_LORA:
    # W stays as it is; each chosen matrix computes W x + (alpha / r) B A x. The classifier is new, so all of it was trained.
    config = LoraConfig(
        r=RANK, lora_alpha=ALPHA, target_modules=TARGETS, use_rslora=RSLORA, use_dora=DORA, task_type="SEQ_CLS"
    )
    adapted = get_peft_model(model, config)
    set_peft_model_state_dict(adapted, tensors)
    model = adapted.merge_and_unload()  # a plain classifier again
else:
    model.load_state_dict(tensors, strict=False)
model.eval()
model.requires_grad_(False)
texts = [text for text in (SENTENCE_A, SENTENCE_B) if text]
if tokenizer.mask_token:  # each family spells it in its own way
    texts = [text.replace("[MASK]", tokenizer.mask_token).replace("<mask>", tokenizer.mask_token) for text in texts]
inputs = tokenizer(*texts, return_tensors="pt")

# Tokens are numbers, and no gradient passes a number; their embeddings are vectors. A hook lets other embeddings in.
table = model.get_input_embeddings()
embeddings = table(inputs["input_ids"]).clone()  # (1, tokens, width)
entering = []
table.register_forward_hook(lambda module, given, output: entering.pop() if entering else output)


def log_odds(given):
    """ln p/(1 - p) of the target, for rows of embeddings."""
    entering.append(given)
    logits = model(**{name: tensor.expand(len(given), -1) for name, tensor in inputs.items()}).logits
    others = torch.arange(logits.shape[-1]) != TARGET
    return logits[:, TARGET] - logits[:, others].logsumexp(-1)


missing = torch.zeros_like(embeddings)
if BASELINE != "zero":
    missing = missing + table.weight[getattr(tokenizer, f"{BASELINE}_token_id")]
baseline = missing.clone()
baseline[:, list(KEPT)] = embeddings[:, list(KEPT)]
print(f"log-odds: {log_odds(embeddings).item():.4f}, of the baseline {log_odds(baseline).item():.4f}")


def integrated_gradients():
    """The gradient, averaged over the way from the baseline to the text, times the way: it adds up to the difference."""
    return IntegratedGradients(log_odds).attribute(embeddings, baseline, n_steps=STEPS).sum(-1)


def gradient_x_input():
    return InputXGradient(log_odds).attribute(embeddings.clone().requires_grad_()).sum(-1)


def saliency():
    return Saliency(log_odds).attribute(embeddings.clone().requires_grad_(), abs=False).norm(dim=-1)


def rollout():
    """Attention alone, half of each layer being its residual connection (Abnar and Zuidema 2020, section 3)."""
    flow = torch.eye(embeddings.shape[1])
    for layer in model(**inputs, output_attentions=True).attentions:
        flow = (layer[0].mean(0) + torch.eye(len(flow))) / 2 @ flow
    return flow[[PLACE]]


def occlusion(unit):
    """How much the log-odds fall when a token's embedding is taken away."""
    changed = embeddings.clone()
    changed[:, unit] = baseline[:, unit]
    return (log_odds(embeddings) - log_odds(changed)).item()


tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
rows = []
for method in METHODS:
    values = globals()[method]()[0] if method != "occlusion" else None
    for unit in map(list, UNITS):
        value = occlusion(unit) if values is None else values[unit].sum().item()
        rows.append((method, unit[0], " ".join(tokens[place] for place in unit), value))

print("method, position, token, attribution")
for row in rows:
    print(*row)
