"""What the memory of a run is made of, and how far the same formula explains LoRA's figures for GPT-3."""

from explorer.action import Action
from explorer.engine.protocol import Job
from explorer.labs.finetune.memory.figures import memory_table
from explorer.labs.finetune.memory.schema import MemoryParams

MEMORY = Action(
    "memory_parts",
    Job("explorer.labs.finetune.memory.jobs:memory_parts", on="resources"),
    MemoryParams,
    memory_table,
)
