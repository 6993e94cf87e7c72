"""Side-by-side measurements against what a user would pick instead; `python -m benchmarks` runs them all."""

import explorer  # noqa: F401  (it says, before torch is imported, how torch's threads wait: as in the app)
