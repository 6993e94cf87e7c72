"""A text through a fine-tuned classifier: the base model with LoRA's factors beside it, by peft (Hu et al. 2021, section 4)."""

from pathlib import Path

import torch
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

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForSequenceClassification.from_pretrained(MODEL, num_labels=len(LABELS), dtype=torch.float32)
tensors = load_file(Path(WEIGHTS).expanduser())
if IS_LORA:
    # W stays as it is; each chosen matrix computes W x + (alpha / r) B A x. The classifier is new, so all of it was trained.
    config = LoraConfig(
        r=RANK, lora_alpha=ALPHA, target_modules=TARGETS, use_rslora=RSLORA, use_dora=DORA, task_type="SEQ_CLS"
    )
    model = get_peft_model(model, config)
    set_peft_model_state_dict(model, tensors)
else:
    model.load_state_dict(tensors, strict=False)
model.eval()

texts = [text for text in (SENTENCE_A, SENTENCE_B) if text]
with torch.no_grad():
    logits = model(**tokenizer(*texts, return_tensors="pt")).logits[0]
probabilities = logits.softmax(-1)

rows = [("adapted", *row) for row in zip(LABELS, logits.tolist(), probabilities.tolist(), strict=True)]
print("model, class, logit, probability")
for row in rows:
    print(*row)
