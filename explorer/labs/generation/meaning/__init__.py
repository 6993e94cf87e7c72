"""A meaning put into words by a run: several decodings side by side, slots missed or invented, attention to the slots."""
