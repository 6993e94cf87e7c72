"""A fine-tuned classifier with some attention heads switched off (Michel et al. 2019, section 2)."""

from itertools import count
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
HEADS = ((0, 1), (5, 2))  # (layer, head), both from 0
# The linear map behind each layer's heads; ALBERT has one for all of its layers.
OUTPUTS = ("bert.encoder.layer.0.attention.output.dense", "bert.encoder.layer.1.attention.output.dense")

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

texts = [text for text in (SENTENCE_A, SENTENCE_B) if text]
if tokenizer.mask_token:  # each family spells it in its own way
    texts = [text.replace("[MASK]", tokenizer.mask_token).replace("<mask>", tokenizer.mask_token) for text in texts]
inputs = tokenizer(*texts, return_tensors="pt")


def probabilities():
    with torch.no_grad():
        return model(**inputs).logits[0].softmax(-1)


# What a layer's heads have gathered stands side by side in the input of its output map: multiply each head's part by 1, or
# by 0 to switch it off.
depth, width = model.config.num_hidden_layers, model.config.num_attention_heads
gates = torch.ones(depth, width)
for layer, head in HEADS:
    gates[layer, head] = 0
calls = count()  # the k-th call is that of layer k


def switch(module, given):
    by_head = given[0].unflatten(-1, (width, -1)) * gates[next(calls) % depth][:, None]
    return (by_head.flatten(-2), *given[1:])


before = probabilities()
for name in OUTPUTS:
    model.get_submodule(name).register_forward_pre_hook(switch)
after = probabilities()

rows = []
for number in before.argsort(descending=True).tolist():
    rows.append((0, LABELS[number], before[number].item(), after[number].item()))

print("position, class, probability before, probability after")
for row in rows:
    print(*row)
