"""A meaning put into words by a causal model that was fine-tuned on meanings and texts, by several decodings (Hu et al. 2021,
LoRA, section 5.4)."""

from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model, set_peft_model_state_dict
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

MODEL = "assets/models/gpt2-mini"  # the model that was fine-tuned
WEIGHTS = "assets/runs/example-e2e-lora/weights.safetensors"  # what was trained; "" asks the model as it is
NAME = "LoRA r=4"  # the run's
UNTOUCHED = "gpt2-mini"  # the model's
MEANING = "name : Bar Olmo | Type : pub | food : Italian | area : riverside"
ASKS = " ||"  # stands between a meaning and its text
DECODING = ("greedy", "beam", "top_p")
TOKENS = 40  # at most
SEED = 0
K = 40
P = 0.9
TEMPERATURE = 0.7
BEAMS = 4
IS_LORA = True  # else the file holds whole tensors of the model
RANK = 4
ALPHA = 32.0
RSLORA = False
DORA = False
TARGETS = r"transformer\.h\.\d+\.(attn\.c_attn|mlp\.c_fc|mlp\.c_proj)"  # the matrices with an update

tokenizer = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32).eval()
end = tokenizer.eos_token_id
never = [token for token in tokenizer.all_special_ids if token != end]
start = torch.tensor([tokenizer(MEANING + ASKS)["input_ids"]])
count = min(TOKENS, min(tokenizer.model_max_length, model.config.max_position_embeddings) - start.shape[1])


def weights(decoding, scores):
    """The distribution that a decoding draws from, likeliest token first, and the tokens in that order."""
    scores = scores.double() / (max(TEMPERATURE, 1e-6) if decoding == "temperature" else 1.0)
    shares, order = scores.softmax(-1).sort(descending=True, stable=True)
    if decoding == "top_k":
        shares[K:] = 0
    if decoding == "top_p":
        before = shares.cumsum(-1) - shares
        before[0] = 0
        shares[before >= P] = 0
    return shares / shares.sum(), order


def step_by_step(decoding):
    """New tokens, the end of the text among them; keys and values of what was read are kept, so each step reads one token."""
    dice = torch.Generator().manual_seed(SEED)
    new, read, cache = [], start, None
    while len(new) < count and end not in new:
        output = model(input_ids=read, past_key_values=cache, use_cache=True)
        cache, scores = output.past_key_values, output.logits[0, -1].clone()
        scores[never] = -torch.inf
        at = torch.rand(1, generator=dice, dtype=torch.float64)
        if decoding == "greedy":
            new.append(int(scores.argmax()))
        else:
            shares, order = weights(decoding, scores)
            place = int(torch.searchsorted(shares.cumsum(-1), at, right=True))
            new.append(int(order[min(place, int((shares > 0).sum()) - 1)]))
        read = torch.tensor([new[-1:]])
    return new


def by_beams():
    """The row that transformers' own beam search finds by the sum of ln p alone."""
    options = {"num_beams": BEAMS, "do_sample": False, "length_penalty": 0.0, "suppress_tokens": never or None}
    mask = torch.ones_like(start)
    found = model.generate(input_ids=start, attention_mask=mask, max_new_tokens=count, pad_token_id=end, **options)
    new = found[0, start.shape[1] :].tolist()
    return new[: new.index(end) + 1] if end in new else new


def written(name, decoding):
    """Who wrote, how, the text, and the mean -ln p of its tokens, the end of the text among them."""
    with torch.no_grad():
        new = by_beams() if decoding == "beam" else step_by_step(decoding)
        row = torch.tensor([[*start[0].tolist(), *new]])
        told = model(input_ids=row).logits[0].log_softmax(-1)
    chances = [told[start.shape[1] - 1 + place, token].item() for place, token in enumerate(new)]
    text = " ".join(tokenizer.decode(new, skip_special_tokens=True).split())
    return name, decoding, text, -sum(chances) / len(chances)


before = [written(UNTOUCHED, "greedy")] if WEIGHTS else []
if WEIGHTS:
    tensors = load_file(Path(WEIGHTS).expanduser())
    if IS_LORA:
        # W stays as it is; each chosen matrix computes W x + (alpha / r) B A x. The head is the model's own.
        config = LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=TARGETS, use_rslora=RSLORA, use_dora=DORA)
        model = get_peft_model(model, config)
        set_peft_model_state_dict(model, tensors)
    else:
        model.load_state_dict(tensors, strict=False)
    model.eval()

rows = [*(written(NAME if WEIGHTS else UNTOUCHED, decoding) for decoding in DECODING), *before]
print("writer, decoding, text, mean -ln p a token")
for row in rows:
    print(*row, sep=", ")
