"""Run every benchmark and print its ratios; nothing here passes or fails."""

from benchmarks import fill, spectra, start

if __name__ == "__main__":
    print(start.measure())
    print(fill.measure())
    print(spectra.measure())
