"""The resources that a job receives: they open the models, runs and tokenizers that its parameters name."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from explorer.lru_cache import LRUCache

if TYPE_CHECKING:
    from explorer.models.loaded_model import LoadedModel
    from explorer.models.tokenizer_store import Opening
    from explorer.runs.open import OpenRuns


class Resources:
    """The resources of one computation.

    model: returns a loaded model by its id, shared by all and never changed. open_run: opens a run by its id.
    tokenizers: opens tokenizers. about: the computation's model and the versions of its runs; what is remembered for
    one such pair is not used for another.
    """

    def __init__(
        self,
        model: Callable[[str], LoadedModel],
        open_run: Callable[[], OpenRuns],
        tokenizers: Callable[[], Opening],
        remembered: LRUCache,
        about: Hashable,
    ) -> None:
        self.model, self._open_run, self._tokenizers = model, open_run, tokenizers
        self._remembered, self._about = remembered, about
        self.is_kept = True
        """Whether the answer is cached for the same question later; a job may set it to False."""

    @property
    def open_run(self) -> OpenRuns:
        """Opens runs by their id."""
        return self._open_run()

    @property
    def tokenizers(self) -> Opening:
        """Opens tokenizers by name."""
        return self._tokenizers()

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Compute a part of the work that other questions about the same model and runs may share; it is computed once,
        and kept for a while.
        """
        return self._remembered.get((self._about, key), make)
