"""DeBERTa's relative positions: which row of its table stands for which distance (He et al. 2021, equation 3)."""

from math import ceil, log

from transformers import AutoConfig

MODEL = "assets/models/deberta-mini"  # a folder, or an id of the Hugging Face hub
LENGTH = 12  # tokens

config = AutoConfig.from_pretrained(MODEL)
reach = config.max_relative_positions if config.max_relative_positions > 0 else config.max_position_embeddings
buckets = getattr(config, "position_buckets", -1)  # versions 2 and 3; the first has none
k = buckets if buckets > 0 else reach


def counted(distance):
    """What a distance counts as: itself, or beyond half the buckets its logarithm."""
    half = buckets // 2
    if buckets <= 0 or abs(distance) <= half:
        return distance
    steps = half + ceil(log(abs(distance) / half) / log((reach - 1) / half) * (half - 1))
    return steps if distance > 0 else -steps


rows = []
for distance in range(1 - LENGTH, LENGTH):
    rows.append((distance, min(max(counted(distance) + k, 0), 2 * k - 1)))

print("distance, row")
for row in rows:
    print(*row)
