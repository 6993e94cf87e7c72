"""How much each head, neuron or layer matters: I = E|dL/dξ| of a gate ξ on it (Michel et al. 2019, section 4.1)."""

import csv
from functools import partial
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model, set_peft_model_state_dict
from safetensors.torch import load_file
from transformers import AutoModelForSequenceClassification, AutoTokenizer

MODEL = "assets/models/bert-small"  # the model that was fine-tuned
WEIGHTS = "assets/runs/example-lora-8/weights.safetensors"  # what was trained
LABELS = ("negative", "positive")
IS_LORA = True  # else the file holds whole tensors of the model: the head alone, or biases
RANK = 8
ALPHA = 16.0
RSLORA = False
DORA = False
TARGETS = r"bert\.encoder\.layer\.\d+\.(attention\.self\.query|attention\.self\.value)"  # the matrices with an update
TRAIN = "assets/tasks/sst2/train.tsv"
HEADER = None  # the columns' names, where the file begins without them
TEXTS = ("sentence",)  # its columns
LABEL = "label"
CLASSES = ("0", "1")  # as the file spells them
EXAMPLES = 64
UNIT = "head"  # or "neuron", or "layer"
UNITS = 12  # of a layer
SCORE = "gradient"  # or "normalised": each layer's l2 norm is 1
LOSS = "labels"  # or "soft": the entropy of the model's own answer, which needs no label
# The linear map behind each layer's heads or neurons, or the layer; ALBERT has one for all of its layers.
GATED = ("bert.encoder.layer.0.attention.output.dense", "bert.encoder.layer.1.attention.output.dense")
SHARED = False
BFLOAT16 = (
    False  # products in half precision, as the page computes where the processor has it: true to two or three digits
)

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForSequenceClassification.from_pretrained(MODEL, num_labels=len(LABELS), dtype=torch.float32)
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

# A gate for each unit, all of them at 1: the model answers as it did, and the gates have a gradient.
gates = torch.ones(len(GATED), 1 if UNIT == "layer" else UNITS, requires_grad=True)


def gate_units(layer, module, given):
    """What a layer's heads (or neurons) give stands side by side in the input of the map behind them."""
    by_unit = given[0].unflatten(-1, (UNITS, -1)) * gates[layer][:, None]
    return (by_unit.flatten(-2).to(given[0].dtype), *given[1:])


def gate_layer(layer, module, given, output):
    """h + ξ (layer(h) - h): a gate at 0 skips the layer."""
    own, *others = output if isinstance(output, tuple) else (output,)
    passed = given[0] + gates[layer] * (own - given[0])
    return (passed, *others) if isinstance(output, tuple) else passed


for layer, name in enumerate(GATED):
    module = model.get_submodule(name)
    if UNIT == "layer":
        module.register_forward_hook(partial(gate_layer, layer))
    else:
        module.register_forward_pre_hook(partial(gate_units, layer))

with open(TRAIN, encoding="utf-8", newline="") as file:
    lines = list(csv.DictReader(file, fieldnames=HEADER, delimiter="\t", quoting=csv.QUOTE_NONE))[:EXAMPLES]

# One example at a time: in a batch's gradient those of different sign would cancel.
found = []
for line in lines:
    inputs = tokenizer(*(line[name].strip() for name in TEXTS), truncation=True, max_length=128, return_tensors="pt")
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=BFLOAT16):
        log_p = model(**inputs).logits[0].float().log_softmax(-1)
    loss = -log_p[CLASSES.index(line[LABEL])] if LOSS == "labels" else -(log_p.exp() * log_p).sum()
    found.append(torch.autograd.grad(loss, gates)[0].abs().double())

found = torch.stack(found)  # (examples, layers, units)
importance = found.mean(0)
error = found.std(0) / len(found) ** 0.5 if len(found) > 1 else None
norms = importance.norm(dim=1, keepdim=True) if SCORE == "normalised" else torch.ones(len(GATED), 1)

rows = []
for layer in range(importance.shape[0]):
    for unit in range(importance.shape[1]):
        wrong = None if error is None else (error / norms)[layer, unit].item()
        names = (layer, "all") if UNIT == "layer" else ("all" if SHARED else layer, unit)
        rows.append((*names, (importance / norms)[layer, unit].item(), wrong))

print("layer, unit, importance, standard error; the ten largest")
for row in sorted(rows, key=lambda row: -row[2])[:10]:
    print(*row)
