"""One step against many: the same share taken away at once, little by little, and with training between."""

import csv
from functools import partial
from itertools import count, islice
from pathlib import Path

import numpy as np
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
HELD_OUT = "assets/tasks/sst2/validation.tsv"
HEADER = None  # the columns' names, where the file begins without them
TEXTS = ("sentence",)  # its columns
LABEL = "label"
CLASSES = ("0", "1")  # as the file spells them
EXAMPLES = 64  # that importance is measured on
MEASURED = 80  # held-out examples
LOSS = "labels"  # or "soft": the entropy of the model's own answer, which needs no label
SCORE = "gradient"  # or "normalised": each layer's l2 norm is 1
# What goes: the map behind the heads (or neurons) of a layer, the maps that make them, and how many a layer has.
KINDS = {
    "head": ("attention.output.dense", ("attention.self.query", "attention.self.key", "attention.self.value"), 12),
}
LAYERS = ("bert.encoder.layer.0", "bert.encoder.layer.1")  # ALBERT has one for all of its layers
SHARE = 0.5  # of each kind
STEPS = 4
TRAIN_BETWEEN = 6  # training steps after each; 0 leaves this way out
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

# A gate for each unit, at first 1: the model answers as it did, and the gates have a gradient. At 0 a unit is gone.
gates = {kind: torch.ones(len(LAYERS), units, requires_grad=True) for kind, (_, _, units) in KINDS.items()}


def gate(kind, layer, module, given):
    """What a layer's heads (or neurons) give stands side by side in the input of the map behind them."""
    by_unit = given[0].unflatten(-1, (KINDS[kind][2], -1)) * gates[kind][layer][:, None]
    return (by_unit.flatten(-2).to(given[0].dtype), *given[1:])


whole, of_one = sum(parameter.numel() for parameter in model.parameters()), {}
for kind, (behind, before, units) in KINDS.items():
    for layer, name in enumerate(LAYERS):
        model.get_submodule(f"{name}.{behind}").register_forward_pre_hook(partial(gate, kind, layer))
    # Without a unit nobody needs its columns in the map behind it, nor its rows in the maps that make it.
    columns = model.get_submodule(f"{LAYERS[0]}.{behind}").weight
    size = columns.shape[1] // units
    makers = [tensor for path in before for tensor in model.get_submodule(f"{LAYERS[0]}.{path}").parameters()]
    of_one[kind] = columns[:, :size].numel() + sum(tensor[:size].numel() for tensor in makers)


def read(path, count):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, fieldnames=HEADER, delimiter="\t", quoting=csv.QUOTE_NONE))[:count]


def logits_and_labels(lines):
    texts = ([line[name].strip() for line in lines] for name in TEXTS)
    inputs = tokenizer(*texts, truncation=True, max_length=128, padding=True, return_tensors="pt")
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=BFLOAT16):
        logits = model(**inputs).logits.float()
    return logits, torch.tensor([CLASSES.index(line[LABEL]) for line in lines])


train, held_out = read(TRAIN, EXAMPLES), read(HELD_OUT, MEASURED)


@torch.no_grad()
def measure():
    """Accuracy, and the parameters that are needed."""
    right = 0
    for start in range(0, len(held_out), 16):
        logits, labels = logits_and_labels(held_out[start : start + 16])
        right += (logits.argmax(-1) == labels).sum().item()
    needed = whole - sum(int((gates[kind] == 0).sum()) * of_one[kind] for kind in gates)
    return right / len(held_out), needed


def importances():
    """I = E|dL/dξ| of each unit: one example at a time, for in a batch's gradient those of different sign would cancel."""
    found = {kind: torch.zeros(tensor.shape, dtype=torch.float64) for kind, tensor in gates.items()}
    for line in train:
        logits, label = logits_and_labels([line])
        log_p = logits[0].log_softmax(-1)
        loss = -log_p[label[0]] if LOSS == "labels" else -(log_p.exp() * log_p).sum()
        for kind, gradient in zip(gates, torch.autograd.grad(loss, list(gates.values())), strict=True):
            found[kind] += gradient.abs() / len(train)
    if SCORE == "normalised":
        return {kind: values / values.norm(dim=1, keepdim=True) for kind, values in found.items()}
    return found


def epoch(seed):
    """Batches of 16 rows of like length, in random order."""
    lengths = np.array([len(tokenizer(*(line[name].strip() for name in TEXTS))["input_ids"]) for line in train])
    draw = np.random.default_rng(seed)
    order = draw.permutation(len(train))
    order = order[np.argsort(lengths[order], kind="stable")]
    batches = [order[start : start + 16] for start in range(0, len(order), 16)]
    return [batches[place] for place in draw.permutation(len(batches))]


def train_on(steps, seed):
    """A little training of the layers, so that what is left takes over; the mean loss."""
    parameters = [parameter for name in LAYERS for parameter in model.get_submodule(name).parameters()]
    optimizer = torch.optim.AdamW([parameter.requires_grad_(True) for parameter in parameters], lr=5e-5, weight_decay=0)
    batches = (batch for number in count() for batch in epoch((seed, number)))
    losses = []
    for batch in islice(batches, steps):
        logits, labels = logits_and_labels([train[place] for place in batch])
        loss = torch.nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        losses.append(loss.item())
    model.requires_grad_(False)
    return sum(losses) / len(losses)


ways = {"one step": (1, 0), "many steps": (STEPS, 0)}
if TRAIN_BETWEEN:
    ways["many steps, training between"] = (STEPS, TRAIN_BETWEEN)
rows = []
for way, (steps, training) in ways.items():  # the one that trains comes last, for it changes the weights
    for tensor in gates.values():
        tensor.data.fill_(1)
    rows.append((way, 0, 0.0, *measure(), None))
    for step in range(1, steps + 1):
        for kind, scores in importances().items():  # of what is left the least important go
            left = gates[kind].data.view(-1)
            wanted = min(round(step / steps * round(SHARE * len(left))), len(left) - 1)
            ranked = [place for place in scores.flatten().argsort(stable=True).tolist() if left[place]]
            left[ranked[: wanted - int((left == 0).sum())]] = 0
        loss = train_on(training, step - 1) if training else None
        gone = [(tensor == 0).double().mean().item() for tensor in gates.values()]
        rows.append((way, step, sum(gone) / len(gone), *measure(), loss))

print("way, step, share gone, accuracy, parameters that are needed, loss of the training between")
for row in rows:
    print(*row)
