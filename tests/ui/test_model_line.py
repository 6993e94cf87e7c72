"""The line below the model picker."""

from __future__ import annotations

from explorer.engine.protocol import ModelStatus
from explorer.models.families import Capability
from explorer.ui.picker import SKILLS, describe


def test_the_line_is_short_and_the_exact_count_is_one_hover_away() -> None:
    known = ModelStatus("bert-small", "BERT", 66_405_702, (Capability.MLM, Capability.NSP), True, True)
    line = describe(known)
    assert "<span>66.4M parameters</span><span>fills masks, scores pairs</span>" in line
    assert 'title="66,405,702 parameters"' in line
    fetched = describe(ModelStatus("a/b", "BERT", 110e6, (), False, False))
    assert "about 110M parameters" in fetched
    assert "to be downloaded" in fetched


def test_every_skill_has_its_words() -> None:
    assert set(SKILLS) == {capability.name for capability in Capability}
