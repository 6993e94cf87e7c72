"""Fewer bits: the same model in fp32, bf16 and int8, whole and pruned."""
