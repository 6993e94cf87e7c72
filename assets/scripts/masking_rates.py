"""How well masked tokens are named as more of a text is masked: BERT's 15% and other rates (Devlin et al. 2019, section 3.1)."""

import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

MODELS = ("assets/models/bert-small", "assets/models/bert-mini")  # folders, or ids of the Hugging Face hub
TEXTS = ("The quick brown fox jumps over the lazy dog, and the dog does not even lift its head.",)
RATES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8)
SEED = 0
ENOUGH_TOKENS, MOST_DRAWS = 1200, 40  # a short text is drawn again and again

rows = []
for name in MODELS:
    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModelForMaskedLM.from_pretrained(name, dtype=torch.float32).eval()
    special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
    read = []  # each text's input, and the positions that can be masked
    for text in TEXTS:
        inputs = tokenizer(text, return_tensors="pt")
        read.append((inputs, [at for at, token in enumerate(inputs["input_ids"][0].tolist()) if token not in special]))
    tokens = sum(len(own) for _, own in read)
    draws = max(1, min(MOST_DRAWS, ENOUGH_TOKENS // tokens))
    for rate in RATES:
        generator = torch.Generator().manual_seed(SEED)
        losses, right = [], []
        for inputs, own in read * draws:
            order = torch.randperm(len(own), generator=generator).tolist()
            chosen = [own[place] for place in order[: max(1, round(rate * len(own)))]] if own else []
            torch.rand(inputs["input_ids"].shape[1], generator=generator)  # what 80/10/10 would be drawn from
            ids = inputs["input_ids"].clone()
            ids[0, chosen] = tokenizer.mask_token_id
            with torch.no_grad():
                scores = model(**{**inputs, "input_ids": ids}).logits[0, chosen].log_softmax(-1)
            truth = inputs["input_ids"][0, chosen]
            losses += (-scores.gather(1, truth[:, None]).squeeze(1)).tolist()
            right += (scores.argmax(-1) == truth).tolist()
        count = len(losses)
        accuracy, cost = sum(right) / count, tokens * draws / count
        rows.append((name, rate, count, accuracy, sum(losses) / count, tokens * draws, cost, 100 * accuracy / cost))

print("model, rate, chosen, accuracy, loss, tokens, tokens_per_prediction, right_per_100")
for row in rows:
    print(*row)
