"""Run every benchmark and print its ratios; nothing here passes or fails."""

from benchmarks import (
    attention_views,
    classroom,
    cluster,
    fill,
    first_view,
    fuzz_memory,
    gpu,
    lora,
    newcomers,
    pruning,
    runs_memory,
    scratch,
    spectra,
    start,
    visitors,
)

ALL = (
    start,
    visitors,
    classroom,
    newcomers,
    first_view,
    fill,
    fuzz_memory,
    attention_views,
    pruning,
    spectra,
    runs_memory,
    lora,
    scratch,
    cluster,
    gpu,
)

if __name__ == "__main__":
    for benchmark in ALL:
        print(benchmark.measure(), flush=True)
