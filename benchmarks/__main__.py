"""Run every benchmark and print its ratios; nothing here passes or fails."""

from benchmarks import attention_views, fill, lora, newcomers, pruning, runs_memory, scratch, spectra, start, visitors

if __name__ == "__main__":
    for benchmark in (start, visitors, newcomers, fill, attention_views, pruning, spectra, runs_memory, lora, scratch):
        print(benchmark.measure(), flush=True)
