"""Run every benchmark and print its ratios; nothing here passes or fails."""

from benchmarks import fill, lora, runs_memory, spectra, start

if __name__ == "__main__":
    for benchmark in (start, fill, spectra, runs_memory, lora):
        print(benchmark.measure(), flush=True)
