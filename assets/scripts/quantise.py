"""The same classifier in fewer bits: bfloat16, and 8-bit integers in every linear map (torch's dynamic quantisation)."""

import csv
import io
import time
import warnings
from copy import deepcopy
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
MEASURED = 80  # held-out examples
BATCH = 16  # rows of the calls that are timed

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

with open(HELD_OUT, encoding="utf-8", newline="") as file:
    lines = list(csv.DictReader(file, fieldnames=HEADER, delimiter="\t", quoting=csv.QUOTE_NONE))[:MEASURED]


def inputs_of(lines):
    texts = ([line[name].strip() for line in lines] for name in TEXTS)
    return tokenizer(*texts, truncation=True, max_length=128, padding=True, return_tensors="pt")


def batches():
    """Rows of like length together, 4,096 tokens at most: int8 scales what a layer reads by the largest number of the batch."""
    batch = []
    for line in sorted(lines, key=lambda line: inputs_of([line])["input_ids"].shape[1]):
        if (len(batch) + 1) * inputs_of([line])["input_ids"].shape[1] > 4096:
            yield batch
            batch = []
        batch.append(line)
    yield batch


@torch.inference_mode()
def accuracy(form):
    right = 0
    for batch in batches():
        answers = form(**inputs_of(batch)).logits.argmax(-1).tolist()
        right += sum(answer == CLASSES.index(line[LABEL]) for answer, line in zip(answers, batch, strict=True))
    return right / len(lines)


@torch.inference_mode()
def milliseconds(form):
    """Of a call, the quickest of four: whatever else the machine does can only make one slower."""
    inputs, spent = inputs_of([lines[place % len(lines)] for place in range(BATCH)]), []
    for _ in range(5):
        began = time.perf_counter()
        form(**inputs)
        spent.append(1000 * (time.perf_counter() - began))
    return min(spent[1:])


def file_size(form):
    file = io.BytesIO()
    torch.save(form.state_dict(), file)
    return file.tell()


# Weights become 8-bit integers with one scale a matrix; what a layer reads is quantised as it comes. Embeddings and
# LayerNorms stay as they are. (torch says that torchao will replace this.)
warnings.simplefilter("ignore")
forms = {
    "fp32": model,
    "bf16": deepcopy(model).to(torch.bfloat16),
    "int8": torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8),
}
rows = [(name, 0.0, file_size(form), milliseconds(form), accuracy(form)) for name, form in forms.items()]

print("form, share pruned, bytes, milliseconds, accuracy")
for row in rows:
    print(*row)
