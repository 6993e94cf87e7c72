"""How many parameters a model of these sizes has, part by part: made by transformers, on a device that holds no numbers."""

import torch
import transformers

MODEL_CLASS = "BertForPreTraining"
CONFIG = {"vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 12}  # what differs from the class's own
# What each part's parameters are called; a tied tensor counts once, where it stands first.
PARTS = {"embeddings": ("bert.embeddings.",), "12 layers": ("bert.encoder.",)}

kind = getattr(transformers, MODEL_CLASS)
with torch.device("meta"):
    model = kind(kind.config_class.from_dict(CONFIG))

counts = {name: parameter.numel() for name, parameter in model.named_parameters()}
rows = []
for part, beginnings in PARTS.items():
    rows.append((part, None, sum(count for name, count in counts.items() if name.startswith(beginnings))))
rows.append(("all", None, sum(counts.values())))

print("part, parameters")
for part, _, count in rows:
    print(part, f"{count:,}")
