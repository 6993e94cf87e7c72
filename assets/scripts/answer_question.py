"""A question to a fine-tuned model that finds answers in a text: a start and an end score for each token (Devlin et al. 2019,
sections 4.2 and 4.3)."""

from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model, set_peft_model_state_dict
from safetensors.torch import load_file
from transformers import AutoModelForQuestionAnswering, AutoTokenizer

MODEL = "assets/models/bert-small"  # the model that was fine-tuned
WEIGHTS = "assets/runs/example-squad/weights.safetensors"  # what was trained
QUESTION = "Who found the ring?"
TEXT = "In 1950 the ring was found by Ada, a miller's daughter."
IS_LORA = True  # else the file holds whole tensors of the model: the head alone, or biases
RANK = 8
ALPHA = 16.0
RSLORA = False
DORA = False
TARGETS = r"bert\.encoder\.layer\.\d+\.(attention\.self\.query|attention\.self\.value)"  # the matrices with an update
LONGEST_ANSWER = 30  # tokens
MOST_SPANS = 5

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForQuestionAnswering.from_pretrained(MODEL, dtype=torch.float32)
tensors = load_file(Path(WEIGHTS).expanduser())
if IS_LORA:
    # W stays as it is; each chosen matrix computes W x + (alpha / r) B A x. The head is new, so all of it was trained.
    # Without a task_type: peft's class for answers would keep token_type_ids from the model.
    config = LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=TARGETS, use_rslora=RSLORA, use_dora=DORA)
    model = get_peft_model(model, config)
    set_peft_model_state_dict(model, tensors)
else:
    model.load_state_dict(tensors, strict=False)
model.eval()

row = tokenizer(QUESTION, TEXT, return_tensors="pt", return_offsets_mapping=True)
offsets = row.pop("offset_mapping")[0].tolist()
inside = [place for place, sequence in enumerate(row.sequence_ids(0)) if sequence == 1]
with torch.no_grad():
    output = model(**row)

# An answer starts and ends in the text; the row's first token, [CLS], stands for no answer.
allowed = torch.full((len(offsets),), -torch.inf)
allowed[[0, *inside]] = 0
start, end = ((scores[0] + allowed).softmax(-1) for scores in (output.start_logits, output.end_logits))

both = (start[:, None] * end[None, :]).triu().tril(LONGEST_ANSWER - 1)
both[0] = 0
rows = []
for place in both.flatten().topk(min(MOST_SPANS, int((both > 0).sum()))).indices.tolist():
    first, last = divmod(place, len(offsets))
    span = TEXT[offsets[first][0] : offsets[last][1]].strip()
    rows.append(("adapted", "span", span, first, last, start[first].item(), end[last].item(), both[first, last].item()))
rows.append(("adapted", "no answer", "", 0, 0, start[0].item(), end[0].item(), (start[0] * end[0]).item()))
for place in inside:
    begin, stop = offsets[place]
    found = (start[place].item(), end[place].item(), (start[place] * end[place]).item())
    rows.append(("adapted", "token", TEXT[begin:stop].strip(), place, place, *found))
print("model, what, text, first, last, start, end, probability")
for row in rows:
    print(*row)
