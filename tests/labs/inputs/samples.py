"""Tokenizers of every kind for the tests of the inputs lab: the bundled three, and small ones made on the fly."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from explorer.models.tokenizer_store import OpenTokenizer, TokenizerStore
from explorer.settings import Settings

BUNDLED = ("bert-small", "byte-level-bpe", "unigram")

TEXTS = (
    "unbelievable tokenization",
    "I ❤️ my family 👩‍👩‍👧 and my cat 🐈",
    "我爱北京的春天。",
    "Die Donaudampfschifffahrtsgesellschaft fährt.",
    "x += 3.14159 * 1024  # 12,345",
    "naïve café São e\u0301 ﬁne Å",
    "McDONALD's iPhone don't",
    "हिन्दी العربية 한국어 ไทย ٣٤٥",
    "a [MASK] b<mask>c [SEP][UNK] <unk> [CLS",
    "tab\tand\nline\u2028break\u00a0space\u200bzero",
    '</script> `x` \\ "q" $y$ %{z} &amp;',
    "####  ▁▁ Ġ Ġx <0x41> ##able",
    "x" * 130,
)


@cache
def store() -> TokenizerStore:
    return TokenizerStore(Settings(offline=True))


def opener(*made: OpenTokenizer) -> Callable[[str], OpenTokenizer]:
    """What a job is handed: the bundled tokenizers, and those that a test has made."""
    known = {opened.name: opened for opened in made}
    return lambda name: known[name] if name in known else store().get(name)


def _open(name: str, backend: Tokenizer, **special: str) -> OpenTokenizer:
    return OpenTokenizer(name, PreTrainedTokenizerFast(tokenizer_object=backend, **special))


def sentencepiece_bpe() -> OpenTokenizer:
    """Llama's kind: characters, merges, bytes for what is unknown, no pre-tokenizer."""
    byte_pieces = [f"<0x{byte:02X}>" for byte in range(256)]
    pieces = ["<unk>", *byte_pieces, "▁", *"abcdefghijklmno", "ab", "▁ab", "cd", "abcd", "▁abcd", "no"]
    merges = [("a", "b"), ("c", "d"), ("▁", "ab"), ("n", "o"), ("▁ab", "cd"), ("ab", "cd")]
    model = models.BPE({piece: n for n, piece in enumerate(pieces)}, merges, unk_token="<unk>", byte_fallback=True)
    backend = Tokenizer(model)
    backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    backend.decoder = decoders.Metaspace()
    return _open("sentencepiece-bpe", backend, unk_token="<unk>")


def suffixed_bpe(fuse: bool) -> OpenTokenizer:
    """GPT's and CLIP's kind: the last letter of a word is marked; unknown letters alone or in one."""
    pieces = ["<unk>", *"abcd", *(f"{letter}</w>" for letter in "abcd"), "ab", "cd</w>", "abcd</w>"]
    merges = [("a", "b"), ("c", "d</w>"), ("ab", "cd</w>")]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    model = models.BPE(vocabulary, merges, unk_token="<unk>", end_of_word_suffix="</w>", fuse_unk=fuse)
    backend = Tokenizer(model)
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    return _open(f"suffixed-{fuse}", backend, unk_token="<unk>")


def whole_first_bpe() -> OpenTokenizer:
    """Takes a whole word where it is a piece, and merges others."""
    vocabulary = {piece: number for number, piece in enumerate(["a", "b", "c", "bc", "abc", "ab"])}
    backend = Tokenizer(models.BPE(vocabulary, [("b", "c"), ("a", "b")], ignore_merges=True))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    return _open("whole-first", backend)


def unigram_with_bytes() -> OpenTokenizer:
    """A unigram model that spells what it does not know in bytes."""
    pieces = [("<unk>", 0.0), ("▁", -2.0), ("a", -3.0), ("b", -3.0), ("ab", -4.0), ("▁ab", -5.5), ("ba", -4.5)]
    pieces += [(f"<0x{byte:02X}>", -20.0) for byte in range(256)]
    backend = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=True))
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.decoder = decoders.Metaspace()
    return _open("unigram-bytes", backend, unk_token="<unk>")


def lower_case_wordpiece() -> OpenTokenizer:
    """bert-base-uncased's kind: capitals and accents go; <mask> takes the space before it away, as RoBERTa's does."""
    words = ["[UNK]", "[CLS]", "[SEP]", "cafe", "na", "##ive", "i", "##phone", "e", "##e", "a", "b", "c"]
    vocabulary = {word: number for number, word in enumerate(words)}
    backend = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=20))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    backend.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    return _open("lower-case", backend, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token="<mask>")


def whole_words() -> OpenTokenizer:
    """A vocabulary of words."""
    backend = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1, "b": 2}, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    return _open("whole-words", backend, unk_token="[UNK]")


MADE = (
    sentencepiece_bpe(),
    suffixed_bpe(True),
    suffixed_bpe(False),
    whole_first_bpe(),
    unigram_with_bytes(),
    lower_case_wordpiece(),
    whole_words(),
)
NAMES = (*BUNDLED, *(opened.name for opened in MADE))


def opened_of(name: str) -> OpenTokenizer:
    return opener(*MADE)(name)
