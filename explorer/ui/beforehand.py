"""What is said of an answer that was computed beforehand, or of one that waits to be asked for."""

from __future__ import annotations

from typing import Any

from explorer.charts.words import caption


def beforehand(made: str, start: str) -> str:
    """Return the remark on a result that was not computed just now, as HTML."""
    return str(caption(f"Computed beforehand ({made}){f'; “{start}” computes it here' if start else ''}."))


def about(values: dict[str, Any]) -> list[Any]:
    """Return the models and the run that a question is about, or the first of two runs."""
    return [values.get(name) for name in ("model", "models", "run", "run_a")]


def example(model: str, made: str, start: str) -> str:
    """Return the remark on a worked example that stands where something else is asked, as HTML.

    model: the example's, if it is the page's model that is asked about; "" where the answer itself says of which run it is.
    """
    named = f"{model}, " if model else ""
    return str(
        caption(f"A worked example, computed beforehand ({named}{made}); “{start}” computes what is chosen here.")
    )


def waiting(start: str) -> str:
    """Return the remark where nothing is known yet, as HTML."""
    return str(caption(f"“{start}” computes what is chosen here."))
