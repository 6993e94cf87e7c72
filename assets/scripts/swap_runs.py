"""Several adapters over one base model: one batch, each row through another one, by peft (Hu et al. 2021, section 4.2)."""

from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model, set_peft_model_state_dict
from safetensors.torch import load_file
from transformers import AutoModelForSequenceClassification, AutoTokenizer

MODEL = "assets/models/bert-small"  # the model that was fine-tuned
LABELS = ("negative", "positive")
SENTENCE_A = "A film that one remembers."
SENTENCE_B = ""  # for tasks on pairs
# Of each run: its name, what was trained, the rank, alpha, rank-stabilised or not, the matrices with an update.
RUNS = (
    (
        "LoRA r=8",
        "assets/runs/example-lora-8/weights.safetensors",
        8,
        16.0,
        False,
        r"bert\.encoder\.layer\.\d+\.(attention\.self\.query|attention\.self\.value)",
    ),
)

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForSequenceClassification.from_pretrained(MODEL, num_labels=len(LABELS), dtype=torch.float32)
names = [str(number) for number in range(len(RUNS))]
for name, (_, weights, rank, alpha, rslora, targets) in zip(names, RUNS, strict=True):
    config = LoraConfig(r=rank, lora_alpha=alpha, target_modules=targets, use_rslora=rslora, task_type="SEQ_CLS")
    if name == "0":
        model = get_peft_model(model, config, adapter_name=name)
    else:
        model.add_adapter(name, config)
    set_peft_model_state_dict(model, load_file(Path(weights).expanduser()), adapter_name=name)
model.eval()

texts = [text for text in (SENTENCE_A, SENTENCE_B) if text]
with torch.no_grad():
    # Row i of the batch goes through W x + s B_i A_i x, with its own classifier behind.
    batch = tokenizer(*([text] * len(names) for text in texts), return_tensors="pt")
    together = model(**batch, adapter_names=names).logits
    alone = []
    for name in names:
        model.set_adapter(name)
        alone.append(model(**tokenizer(*texts, return_tensors="pt")).logits[0])


def answer(logits):
    best = int(logits.argmax())
    return f"{LABELS[best]} ({100 * logits.softmax(-1)[best].item():#.3g}%)"


rows = []
for number, (run, one, other) in enumerate(zip(RUNS, together, alone, strict=True)):
    rows.append((number, run[0], answer(one), answer(other), (one - other).abs().max().item()))

print("row, run, answer in the batch, answer alone, largest difference of a logit")
for row in rows:
    print(*row)
