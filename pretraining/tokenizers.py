"""Makes the two stand-alone tokenizers in assets/tokenizers: `python -m pretraining.tokenizers CORPUS`.

Both learn 16,000 pieces from the same text, so that what differs on the page is the method: byte-level BPE (Radford et
al. 2019, section 2.2; merges as in Sennrich et al. 2016) and a unigram model as SentencePiece trains it (Kudo 2018,
section 3.2).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from explorer.settings import BUNDLED_TOKENIZERS

PIECES = 16_000
COVERAGE = 0.9995
"""The share of the text's characters that the unigram model knows, SentencePiece's default; the others become <unk>."""

FEWEST = 2
"""How often a pair must occur in the text to be merged."""

LARGEST_SHARE = 12_000_000
"""Characters taken of each file, evenly spread over it, so that film reviews do not outweigh the encyclopaedias."""

BYTE_LEVEL_SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
UNIGRAM_SPECIAL = ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")


def lines_of(files: Iterable[Path], largest: int = LARGEST_SHARE) -> Iterator[str]:
    """Yield the lines of some text files; of a file with more than `largest` characters, lines are left out evenly."""
    for file in files:
        lines = file.read_text(encoding="utf-8").splitlines()
        keep = min(1.0, largest / max(1, sum(map(len, lines))))
        yield from (line for number, line in enumerate(lines) if line and int((number + 1) * keep) > int(number * keep))


def train_byte_level(lines: Iterable[str], pieces: int = PIECES) -> Tokenizer:
    """Train a tokenizer of GPT-2's and RoBERTa's kind: 256 bytes to begin with, then one merge for each further piece."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=pieces,
        min_frequency=FEWEST,
        special_tokens=list(BYTE_LEVEL_SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(lines, trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return tokenizer


def train_unigram(lines: Iterable[str], pieces: int = PIECES) -> Tokenizer:
    """Train a tokenizer of ALBERT's and DeBERTa-v3's kind: the pieces that make the text most probable, and no bytes to
    fall back on.
    """
    lines = list(lines)
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    trainer = trainers.UnigramTrainer(
        vocab_size=pieces, special_tokens=list(UNIGRAM_SPECIAL), unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(_covered(tokenizer.normalizer, lines), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return tokenizer


def _covered(normalizer: normalizers.Normalizer, lines: list[str]) -> Iterator[str]:
    """Yield the lines without words that contain one of the rarest characters, each of which would take a piece of its own."""
    lines = [str(normalizer.normalize_str(line)) for line in lines]
    counts: Counter[str] = Counter()
    for line in lines:
        counts.update(line)
    known, seen, enough = set[str](), 0, COVERAGE * sum(counts.values())
    for character, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if seen >= enough:
            break
        known.add(character)
        seen += count
    for line in lines:
        yield line if known.issuperset(line) else " ".join(word for word in line.split() if known.issuperset(word))


def save_byte_level(tokenizer: Tokenizer, folder: Path) -> None:
    """Write it as AutoTokenizer opens it."""
    _save(tokenizer, folder, bos="<s>", eos="</s>", cls="<s>", sep="</s>", pad="<pad>", unk="<unk>", mask="<mask>")


def save_unigram(tokenizer: Tokenizer, folder: Path) -> None:
    """Write it as AutoTokenizer opens it."""
    _save(tokenizer, folder, cls="[CLS]", sep="[SEP]", pad="<pad>", unk="<unk>", mask="[MASK]")


def _save(tokenizer: Tokenizer, folder: Path, **special: str) -> None:
    names = {f"{name}_token": token for name, token in special.items()}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=512, **names)
    folder.mkdir(parents=True, exist_ok=True)
    fast.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)


def main(corpus: Path, target: Path = BUNDLED_TOKENIZERS, pieces: int = PIECES) -> None:
    """Train both on the text files of a folder (WikiText's validation part stays unseen) and keep them."""
    files = sorted(file for file in corpus.glob("*.txt") if file.name != "wikitext-valid.txt")
    lines = list(lines_of(files))
    save_byte_level(train_byte_level(lines, pieces), target / "byte-level-bpe")
    save_unigram(train_unigram(lines, pieces), target / "unigram")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
