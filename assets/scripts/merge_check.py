"""LoRA's factors merged into the weights: the same answers from a plain model, by peft (Hu et al. 2021, section 4.1)."""

from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model, set_peft_model_state_dict
from safetensors.torch import load_file
from transformers import AutoModelForSequenceClassification, AutoTokenizer

MODEL = "assets/models/bert-small"  # the model that was fine-tuned
WEIGHTS = "assets/runs/example-lora-8/weights.safetensors"  # what was trained
LABELS = ("negative", "positive")
TEXTS = (("A film that one remembers.",), ("Nothing in it works.",))  # one text each, or two for tasks on pairs
RANK = 8
ALPHA = 16.0
RSLORA = False
DORA = False
TARGETS = r"bert\.encoder\.layer\.\d+\.(attention\.self\.query|attention\.self\.value)"  # the matrices with an update

tokenizer = AutoTokenizer.from_pretrained(MODEL)
base = AutoModelForSequenceClassification.from_pretrained(MODEL, num_labels=len(LABELS), dtype=torch.float32)
config = LoraConfig(
    r=RANK, lora_alpha=ALPHA, target_modules=TARGETS, use_rslora=RSLORA, use_dora=DORA, task_type="SEQ_CLS"
)
model = get_peft_model(base, config)
set_peft_model_state_dict(model, load_file(Path(WEIGHTS).expanduser()))
model.eval()
inputs = tokenizer(*map(list, zip(*TEXTS, strict=True)), padding=True, return_tensors="pt")

# Beside W, each chosen matrix computes W x + (alpha / r) B A x: two more products for every token.
with torch.no_grad():
    attached = model(**inputs).logits

# W + (alpha / r) B A is a matrix of W's own size: after merging there is nothing left of LoRA, and nothing to wait for.
merged = model.merge_and_unload()
with torch.no_grad():
    gap = (merged(**inputs).logits - attached).abs().max().item()

print(type(merged).__name__, f"{sum(parameter.numel() for parameter in merged.parameters()):,} parameters")
rows = [("attached", 0.0), ("merged", gap)]
print("form, largest difference of a logit; what there is, is rounding")
for row in rows:
    print(*row)
