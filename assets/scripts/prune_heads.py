"""A fine-tuned classifier without some of its attention heads (Michel et al. 2019, section 3): accuracy and size."""

import csv
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
HELD_OUT = "assets/tasks/sst2/validation.tsv"
HEADER = None  # the columns' names, where the file begins without them
TEXTS = ("sentence",)  # its columns
LABEL = "label"
CLASSES = ("0", "1")  # as the file spells them
EXAMPLES = 80  # of the held-out ones
HEADS = ((0, 1), (5, 2))  # (layer, head), both from 0
LAYER = "bert.encoder.layer.{}."  # where a layer's weights are
PROJECTIONS = ("attention.self.query", "attention.self.key", "attention.self.value")  # rows of each head
OUTPUT = "attention.output.dense"  # columns of each head
SHARE = 2 / 72  # of the heads
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

with open(HELD_OUT, encoding="utf-8", newline="") as file:
    lines = list(csv.DictReader(file, fieldnames=HEADER, delimiter="\t", quoting=csv.QUOTE_NONE))[:EXAMPLES]


def accuracy():
    right = 0
    for line in lines:
        texts = (line[name].strip() for name in TEXTS)
        inputs = tokenizer(*texts, truncation=True, max_length=128, return_tensors="pt")
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=BFLOAT16):
            answer = model(**inputs).logits[0].argmax().item()
        right += answer == CLASSES.index(line[LABEL])
    return right / len(lines)


size = model.config.hidden_size // model.config.num_attention_heads
parameters = sum(parameter.numel() for parameter in model.parameters())
rows = [(0.0, accuracy(), parameters)]

# Without its columns in the output map, a head's answer is lost, and nothing of the head is needed any more: neither these
# columns nor its rows in the maps that make queries, keys and values.
for layer, head in HEADS:
    places = slice(head * size, (head + 1) * size)
    output = model.get_submodule(LAYER.format(layer) + OUTPUT)
    output.weight.data[:, places] = 0
    parameters -= output.weight[:, places].numel()
    for name in PROJECTIONS:
        projection = model.get_submodule(LAYER.format(layer) + name)
        parameters -= sum(tensor[places].numel() for tensor in projection.parameters())
rows.append((SHARE, accuracy(), parameters))

print("share of the heads gone, accuracy, parameters that are needed")
for row in rows:
    print(*row)
