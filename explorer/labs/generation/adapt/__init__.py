"""GPT-2 fine-tuned on meanings and texts: LoRA, prefix and full fine-tuning side by side, as in LoRA's Table 3."""

from explorer.action import LiveAction
from explorer.labs.generation.adapt import figures
from explorer.labs.generation.adapt.schema import AdaptParams

ADAPT = LiveAction("adapt_writer", "explorer.labs.generation.adapt.live:adapt_writer", AdaptParams, figures.adapt_table)
