"""One word in several sentences, for every family, against transformers' hidden states and numpy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA
from transformers import AutoModel, AutoTokenizer

from explorer.errors import BadInputError
from explorer.labs.context.examples import BANK, PLAIN
from explorer.labs.context.word import STATIC, ContextParams, ContextResult
from explorer.labs.context.word_jobs import PAIRS, contextual_similarity, random_pairs
from explorer.models.families import ARCHITECTURES
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import Settings
from tests.models.tiny import save, save_byte_level

FAMILIES = [entry.family for entry in ARCHITECTURES]
SENTENCES = ("the cat sat on the mat . | a", "a cat , a mat", "on the mat sat a cat . | a")
SIZES: dict[str, dict[str, Any]] = {
    "DeBERTa": {"relative_attention": True},
    "DeBERTa-v2/v3": {"relative_attention": True},
}


@pytest.fixture(scope="module", params=FAMILIES)
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    family = request.param
    changes = {"initializer_range": 0.3, **SIZES.get(family, {})}
    folder = save(tmp_path_factory.mktemp("context") / "model", family, **changes)
    return load_model(str(folder), Settings(device="cpu"))


@pytest.fixture(scope="module")
def bytewise(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    folder = save_byte_level(tmp_path_factory.mktemp("bytes"))
    return load_model(str(folder), Settings(device="cpu"))


@pytest.fixture(scope="module")
def reader(tiny_model: str) -> LoadedModel:
    """It reads any text, with the bundled model's tokenizer."""
    return load_model(tiny_model, Settings(device="cpu"))


@torch.inference_mode()
def similar(loaded: LoadedModel, sentences: Any = SENTENCES, word: str = "cat", seed: int = 0) -> ContextResult:
    return contextual_similarity(loaded, ContextParams(sentences, word, seed))


class Apart:
    """The same weights as transformers' body class, read sentence by sentence: an independent way to every number."""

    def __init__(self, folder: str) -> None:
        self.model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
        self.tokenizer = AutoTokenizer.from_pretrained(folder)

    @torch.inference_mode()
    def layers(self, text: str) -> np.ndarray:
        """(depth + 1, length, width)."""
        states = self.model(**self.tokenizer(text, return_tensors="pt"), output_hidden_states=True).hidden_states
        return torch.cat(states).double().numpy()

    def vectors(self, text: str, start: int, stop: int) -> tuple[np.ndarray, np.ndarray, list[int]]:
        """The word's token embedding, its vector in each layer, and its positions."""
        batch = self.tokenizer(text, return_offsets_mapping=True)
        places = [k for k, (a, b) in enumerate(batch["offset_mapping"]) if a < stop and b > start]
        table = self.model.get_input_embeddings().weight.detach().double().numpy()
        alone = np.mean([table[batch["input_ids"][k]] for k in places], axis=0)
        return alone, self.layers(text)[:, places].mean(1), places


@pytest.fixture(scope="module")
def apart(opened: LoadedModel) -> Apart:
    return Apart(opened.model_id)


def cosine(first: np.ndarray, second: np.ndarray) -> float:
    length = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(first @ second) / length if length else 0.0  # RoBERTa's padding row is zero


def assert_agrees(loaded: LoadedModel, apart: Apart, sentences: tuple[str, ...], word: str) -> ContextResult:
    params = ContextParams(sentences, word)
    result = similar(loaded, sentences, word)
    found = [apart.vectors(line.text, line.start, line.stop) for line in params.lines]
    assert len(result.layers) == len(found[0][1]) + 1
    for i in range(len(found)):
        for j in range(len(found)):
            assert result.at(STATIC).cosines[i][j] == pytest.approx(cosine(found[i][0], found[j][0]), abs=1e-5)
            for layer in range(result.depth + 1):
                expected = cosine(found[i][1][layer], found[j][1][layer])
                assert result.at(layer).cosines[i][j] == pytest.approx(expected, abs=2e-5)
    return result


def test_every_cosine_is_numpy_s_on_transformers_hidden_states(opened: LoadedModel, apart: Apart) -> None:
    assert_agrees(opened, apart, SENTENCES, "cat")


def test_a_word_of_several_pieces_has_the_mean_of_their_vectors(opened: LoadedModel, apart: Apart) -> None:
    result = assert_agrees(opened, apart, ("the cats sat", "a mat on cats , sitting"), "cats")
    assert [entry.pieces for entry in result.occurrences] == [("cat", "##s")] * 2
    assert result.one_vector


def test_a_byte_level_vocabulary_may_write_a_word_in_two_ways(bytewise: LoadedModel) -> None:
    result = assert_agrees(bytewise, Apart(bytewise.model_id), ("cat on the mat", "the cat on a mat"), "cat")
    assert len({entry.pieces for entry in result.occurrences}) == 2
    assert not result.one_vector
    assert result.at(STATIC).cosines[0][1] < 1 - 1e-3


def test_invariants(opened: LoadedModel) -> None:
    result = similar(opened)
    assert [view.layer for view in result.layers] == [STATIC, 0, 1, 2]
    for view in result.layers:
        rows = np.array(view.cosines)
        assert rows.diagonal() == pytest.approx(1, abs=1e-12)
        assert (rows == rows.T).all()
        assert (abs(rows) <= 1).all()
    assert np.array(result.at(STATIC).cosines) == pytest.approx(1, abs=1e-12)
    assert result.one_vector
    assert result.at(2).cosines[0][1] < 1 - 1e-4


def test_the_same_place_has_the_same_vector_until_a_layer_looks_around(opened: LoadedModel) -> None:
    """Positions count from the start, so layer 0 cannot tell these two apart; a layer that looks left can."""
    result = similar(opened, ("the cat sat", "a cat sat"))
    assert result.at(0).cosines[0][1] == pytest.approx(1, abs=1e-6)
    assert result.at(result.depth).cosines[0][1] < 1 - 1e-5


def test_layer_0_adds_the_position_where_the_family_has_one(opened: LoadedModel) -> None:
    result = similar(opened, ("cat the the the", "the the the cat"))
    plain = opened.architecture.family in ("ModernBERT", "ModernBERT decoder", "EuroBERT", "DeBERTa-v2/v3")
    absolute = getattr(opened.model.config, "position_biased_input", not plain)
    assert (result.at(0).cosines[0][1] < 1 - 1e-5) == bool(absolute)
    assert result.adds_positions == bool(absolute)


def test_a_sentence_twice_is_one_point_in_every_layer(opened: LoadedModel) -> None:
    result = similar(opened, ("the cat sat", "the cat sat"))
    for view in result.layers:
        assert view.cosines[0][1] == pytest.approx(1, abs=1e-9)
        assert view.projection.explained == (0.0, 0.0)


def test_planes_are_scikit_learn_s_up_to_sign_and_do_not_flip(opened: LoadedModel, apart: Apart) -> None:
    sentences = (*SENTENCES, "cat , cat", "a mat / cat")
    params = ContextParams(sentences, "cat")
    result = similar(opened, sentences)
    vectors = np.stack([apart.vectors(line.text, line.start, line.stop)[1] for line in params.lines], axis=1)
    before = None
    for layer, points in enumerate(vectors):
        projection = result.at(layer).projection
        found = np.array(projection.points)
        if np.ptp(points, axis=0).max() < 1e-6:  # a family without position embeddings, in layer 0
            assert projection.explained == (0.0, 0.0)
            continue
        pca = PCA(2).fit(points)
        assert abs(found) == pytest.approx(abs(pca.transform(points)), abs=1e-3)
        assert projection.explained == pytest.approx(tuple(pca.explained_variance_ratio_), abs=1e-4)
        if before is not None:
            assert ((found * before).sum(0) >= -1e-9).all()
        before = found


def test_the_baseline_is_numpy_s_mean_over_the_same_pairs(opened: LoadedModel, apart: Apart) -> None:
    params, result = ContextParams(SENTENCES, "cat"), similar(opened)
    owners, ids, rows = [], [], []
    lines = [(line.text, apart.vectors(line.text, line.start, line.stop)[2]) for line in params.lines]
    for owner, (text, word) in enumerate([*lines, *((text, []) for text in PLAIN)]):
        batch = apart.tokenizer(text, return_special_tokens_mask=True)
        layers = apart.layers(text)
        for place, special in enumerate(batch["special_tokens_mask"]):
            if not special and place not in word:
                owners.append(owner)
                ids.append(batch["input_ids"][place])
                rows.append(layers[:, place])
    assert result.pool == len(rows)
    assert result.plain_sentences == len(PLAIN)
    first, second = random_pairs(torch.tensor(owners), torch.tensor(ids), 0)
    assert result.pairs == len(first) == PAIRS
    for layer in range(result.depth + 1):
        found = [cosine(rows[a][layer], rows[b][layer]) for a, b in zip(first, second, strict=True)]
        assert result.at(layer).baseline == pytest.approx(np.mean(found), abs=2e-5)
        assert result.at(layer).middle == pytest.approx(tuple(np.quantile(found, [0.05, 0.95])), abs=1e-4)
    table = apart.model.get_input_embeddings().weight.detach().double().numpy()
    static = np.mean([cosine(table[ids[a]], table[ids[b]]) for a, b in zip(first, second, strict=True)])
    assert result.at(STATIC).baseline == pytest.approx(static, abs=1e-6)


def test_the_baseline_depends_on_the_seed_and_on_nothing_else(opened: LoadedModel) -> None:
    once, again, other = similar(opened), similar(opened), similar(opened, seed=1)
    assert once == again
    assert once.layers[-1].baseline != other.layers[-1].baseline
    assert once.layers[-1].baseline == pytest.approx(other.layers[-1].baseline, abs=0.05)
    assert once.layers[-1].cosines == other.layers[-1].cosines


def test_random_pairs_are_of_different_sentences_and_spelling() -> None:
    owners, ids = torch.arange(60) // 10, torch.arange(60) % 7
    pairs = random_pairs(owners, ids, 4)
    assert pairs.shape == (2, PAIRS)
    assert (owners[pairs[0]] != owners[pairs[1]]).all()
    assert (ids[pairs[0]] != ids[pairs[1]]).all()
    assert torch.equal(pairs, random_pairs(owners, ids, 4))
    assert not torch.equal(pairs, random_pairs(owners, ids, 5))
    assert set(pairs.flatten().tolist()) == set(range(60)), "each token has its chance"


def test_tokens_that_are_all_spelled_alike_are_paired_across_sentences() -> None:
    owners = torch.tensor([0, 0, 1])
    pairs = random_pairs(owners, torch.ones(3), 0)
    assert (owners[pairs[0]] != owners[pairs[1]]).all()


@pytest.mark.parametrize("owners", [[], [0, 0]])
def test_one_sentence_has_no_random_pair(owners: list[int]) -> None:
    with pytest.raises(BadInputError, match="too few tokens"):
        random_pairs(torch.tensor(owners), torch.tensor(owners), 0)


def test_short_sentences_share_a_pass_and_long_ones_do_not(
    reader: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = similar(reader, BANK[:3], "bank")
    monkeypatch.setattr("explorer.models.batching.MOST_TOKENS", 1)
    alone = similar(reader, BANK[:3], "bank")
    for ours, theirs in zip(together.layers, alone.layers, strict=True):
        assert np.array(ours.cosines) == pytest.approx(np.array(theirs.cosines), abs=1e-5)
        assert ours.baseline == pytest.approx(theirs.baseline, abs=1e-5)


def test_the_bundled_model_tells_the_bank_of_a_river_from_the_one_for_money(loaded: LoadedModel) -> None:
    """A loose fact: by the last layer the two senses have parted, and both are more alike than random tokens."""
    result = similar(loaded, BANK, "bank")
    last = result.depth
    same, different = result.mean("same", last), result.mean("different", last)
    assert same is not None
    assert different is not None
    assert same > different + 0.1
    assert different > result.at(last).baseline + 0.1
    assert np.array(result.at(STATIC).cosines) == pytest.approx(1, abs=1e-12)
    assert 0 < result.telling_layer() <= last


@pytest.mark.parametrize("word", ["c++", "$5", "<b>bold</b>", "东京", "😀", "[MASK]", "New York", "%{y}", "don't"])
def test_words_of_any_characters_are_compared(reader: LoadedModel, word: str) -> None:
    result = similar(reader, (f"a {word} b", f"{word} again"), word)
    assert result.at(STATIC).cosines[0][1] == pytest.approx(1, abs=1e-9)
    assert -1 <= result.at(result.depth).cosines[0][1] <= 1


def test_an_unknown_word_says_so(reader: LoadedModel) -> None:
    result = similar(reader, ("a ʬʬʬ b", "the ʬʬʬ again"), "ʬʬʬ")
    assert all(entry.unknown for entry in result.occurrences)


def test_a_word_that_the_tokenizer_drops_is_refused(reader: LoadedModel) -> None:
    with pytest.raises(BadInputError, match="leaves nothing of"):
        similar(reader, ("a \u200b b", "the \u200b again"), "\u200b")


def test_a_sentence_that_is_too_long_is_named(opened: LoadedModel) -> None:
    with pytest.raises(BadInputError, match=r"Sentence 2: This is \d+ tokens long"):
        similar(opened, ("the cat", "the cat " + "a mat " * 20))


def test_a_sentence_as_long_as_the_model_reads_is_compared(reader: LoadedModel) -> None:
    full = "the bank " + "and " * (reader.longest - 4)
    result = similar(reader, (full.strip(), "a bank"), "bank")
    assert result.pool > reader.longest - 10


def test_a_model_that_reads_few_tokens_does_without_the_plain_sentences(tmp_path: Path) -> None:
    folder = save(tmp_path, "BERT", max_position_embeddings=10)
    loaded = load_model(str(folder), Settings(device="cpu"))
    result = similar(loaded, ("the cat sat", "a cat on mat"))
    assert result.plain_sentences < len(PLAIN)
    with pytest.raises(BadInputError, match="Sentence 1"):
        similar(loaded, ("the cat sat on a mat on a mat", "a cat"))


def test_words_that_stand_alone_are_compared_with_the_plain_sentences(opened: LoadedModel) -> None:
    result = similar(opened, ("cat", "cat"))
    assert result.pairs == PAIRS
