"""A finished model's card: README.md for people, scores.json and curve.json for the app.

What is said comes from notes.toml, every number is counted or measured here.
"""

from __future__ import annotations

import json
import textwrap
import tomllib
from pathlib import Path
from typing import Any

from explorer.errors import BadInputError
from explorer.models.families import Capability
from explorer.models.records import Measure, read_curve, read_further
from explorer.models.sizes import counted_parts, tied
from pretraining import cloze
from pretraining.curve import gone_on, thinned, write_curve
from pretraining.evaluate import measures_of, write_scores
from pretraining.measures.causal import continuations
from pretraining.measures.measure import Subject, open_subject
from pretraining.nsp_head import RECORD as HEAD
from pretraining.train import work_folder

NOTES = Path(__file__).with_name("notes.toml")
WIDTH = 130
PAIRS = "pairs.json"
"""Beside training.json where NSP was learned once more on matched pairs."""
FITTED = """fitted anew on the pooled states as they are, and nothing else of the model: a logistic regression on {pairs:,}
  pairs. Neighbours in short everyday texts (written for this by a language model, as those of the everyday measure below were;
  other texts) and in Tatoeba stand against a second sentence that begins with the same word and is about as long; random pairs
  as in the training above are the rest. How small the weights are held was chosen by cross-validation on these pairs.
  `head.json` has every number."""
GONE_ON = "The same again from these weights, on other draws of the text, the learning rate rising and falling anew."
OF_A_STAGE = {
    "pair": ", {:.0%} of them pairs",
    "new_names": ", {:.0%} of them with invented names",
    "twice": ", {:.0%} with a passage said twice",
    "taught": ", the loss of where heads look weighed by {:g}",
    "dropout": ", dropout {:g}",
}
TEXT = """113 MB of English from published packages: WikiText-2 train, Wikipedia sections, State of the Union speeches, 18
  Gutenberg books, film reviews and Tatoeba sentences. bert-small's card has the packages and licences. None of it is part
  of this repository."""


def write_card(folder: Path, text: Path, work: Path, keep_scores: bool = False) -> Path:
    """Measure a model and write its README.md, scores.json and, where `work` has its log, curve.json.

    keep_scores: take the figures of the scores.json that is there; for a card of which only the words have changed.

    Raises BadInputError for a model that notes.toml does not tell of or that was not trained here, and for a missing text.
    """
    notes = tomllib.loads(NOTES.read_text(encoding="utf-8"))
    if folder.name not in notes:
        raise BadInputError(f"{NOTES.name} says nothing of {folder.name}: write a section for it first.")
    if not text.is_file():
        raise BadInputError(f"{text} is not there: run `python -m pretraining corpus`, or name a text by --text.")
    if not (folder / "training.json").is_file():
        raise BadInputError(f"{folder} has no training.json: it was not made by `python -m pretraining train`.")
    subject = open_subject(folder, text)
    about = json.loads((folder / "training.json").read_text())
    scores = _kept(folder / "scores.json") if keep_scores else write_scores(subject, measures_of(subject))
    log = work_folder(work, about["name"], 0) / "log.jsonl"
    if log.exists():
        write_curve(thinned(log), folder / "curve.json", folder.name)
        about.setdefault("seconds", max((point["seconds"] for point in thinned(log)), default=0.0))
    elif (points := read_curve(folder)) and "minutes" not in about:
        about.setdefault("seconds", points[-1]["seconds"])
    _add_further(folder, work, about)
    card = "\n\n".join(_sections(subject, notes[folder.name], about, scores)) + "\n"
    (folder / "README.md").write_text(card, encoding="utf-8")
    return folder / "README.md"


def _add_further(folder: Path, work: Path, about: dict[str, Any]) -> None:
    """Let curve.json go on with the logs that `work` has of further trainings. about: training.json."""
    ended = about["steps"]
    for times, more in enumerate(read_further(folder), 1):
        log = work_folder(work, about["name"], times) / "log.jsonl"
        if log.exists():
            # A card is written more than once: what was added to the curve before is added anew.
            before = [point for point in read_curve(folder) if point["step"] <= ended]
            write_curve(gone_on(before, log), folder / "curve.json", folder.name)
        ended += more["steps"]


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}
    return found


def _kept(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise BadInputError(f"{path} is not there: measure the model first, without --keep-scores.")
    scores: dict[str, Any] = json.loads(path.read_text())
    return scores


def _sections(subject: Subject, note: dict[str, Any], about: dict[str, Any], scores: dict[str, Any]) -> list[str]:
    return [
        _front(note),
        f"# {subject.folder.name}",
        _wrapped(f"{note['what']} {_files(subject.folder)}"),
        _code(subject),
        "## Parameters",
        _parameters(subject),
        "## How it was made",
        _making(subject.folder, note, about),
        "## What it scores",
        _scores(subject, note, scores),
        *_samples(subject),
        "## What it is bad at",
        "\n".join(_wrapped(line, "- ") for line in [*_everyday(subject, note, scores), *note["bad_at"]]),
    ]


def _front(note: dict[str, Any]) -> str:
    tags = ", ".join([*note["tags"], "teaching"])
    return (
        f"---\nlanguage: en\nlicense: apache-2.0\nbase_model: {note['base_model']}\nlibrary_name: transformers\n"
        f"tags: [{tags}]\n---"
    )


def _files(folder: Path) -> str:
    files = list(folder.glob("*.safetensors"))
    size = sum(file.stat().st_size for file in files) / 1e6
    count = "one file" if len(files) == 1 else f"{len(files)} files"
    return (
        f"fp16 safetensors, {size:.1f} MB in {count}; `config.json` asks for float32, so a plain load computes in it. One of "
        "the bundled models of the BERT Explorer, made for showing how the family works."
    )


def _code(subject: Subject) -> str:
    name, path = type(subject.model).__name__, f"assets/models/{subject.folder.name}"
    return (
        f"```python\nfrom transformers import {name}, AutoTokenizer\n"
        f'model = {name}.from_pretrained("{path}")\ntokenizer = AutoTokenizer.from_pretrained("{path}")\n```'
    )


def _parameters(subject: Subject) -> str:
    parts = counted_parts(subject.model)
    total = sum(part.count for part in parts)
    if total != subject.loaded.parameters or not tied(subject.model):
        raise BadInputError(f"{subject.folder} is not as its formula says: export it again.")
    rows = [f"| {part.name} | {part.formula} | {part.count:,} |" for part in parts]
    said = "By formula and by counting the same."
    if subject.model.get_output_embeddings() is not None:
        said += " The decoder and the word embeddings are one storage."
    if subject.model.config.model_type == "albert":
        said += f" The layer is one set of tensors, run through {subject.model.config.num_hidden_layers} times."
    return "\n".join(["| part | formula | count |", "|---|---|---|", *rows, f"| all | | {total:,} |", "", said])


def _making(folder: Path, note: dict[str, Any], about: dict[str, Any]) -> str:
    """about: training.json."""
    paired, head, more = _read(folder / PAIRS), _read(folder / HEAD), read_further(folder)
    masked = about["corruption"]
    training = f"{_length_of(about)}, {_rates(about)}, linear decay, no dropout"
    if masked["rate"]:
        random = f", {masked['random_share']:.0%} random" if masked["random_share"] else ""
        training += f"; {masked['rate']:.0%} of the tokens chosen ({masked['scheme']} by {masked['scheme']}), "
        training += f"{masked['mask_share']:.0%} of them masked{random}"
    again = f"`python -m pretraining corpus`, then `python -m pretraining train {about['name']}`"
    lines = [
        f"**Start**: {note['start']}",
        f"**Text**: {note.get('text', TEXT)}",
        f"**Training**: {note['objective']} {training}. {_stages(about)}. `training.json` has every number.",
    ]
    for times, one in enumerate(more, 1):
        why = note.get("further", [])[times - 1 : times]
        lines.append(
            f"**Further**: {' '.join([GONE_ON, *why])} {_length_of(one)}, {_rates(one)}. {_stages(one)}. "
            "`further.json` has every number."
        )
        steps = " ".join(str(done["steps"]) for done in more[:times])
        again += f", then `python -m pretraining train {about['name']} --further {steps}`"
    if paired:
        lines.append(f"**Pairs**: {note['pairs']} {_length_of(paired)}. `pairs.json` has every number.")
        again += f", then `python -m pretraining train {paired['name']}`"
    if head:
        lines.append(f"**NSP head**: {FITTED.format(pairs=head['pairs'])}")
        again += f", then `python -m pretraining head assets/models/{folder.name}`"
    return "\n".join(_wrapped(line, "- ") for line in [*lines, f"**Again**: {again}."])


def _rates(about: dict[str, Any]) -> str:
    embeddings = about.get("embedding_learning_rate", 0.0)
    return f"AdamW ({about['learning_rate']:g}; new parts {about['head_learning_rate']:g}; word embeddings " + (
        f"{embeddings:g})" if embeddings else "frozen)"
    )


def _stages(about: dict[str, Any]) -> str:
    """The share of each stage, and what its rows are."""
    return "; ".join(
        f"{stage['share']:.0%} of the steps with rows of {stage['length']}"
        + "".join(said.format(stage[name]) for name, said in OF_A_STAGE.items() if stage.get(name))
        for stage in about["stages"]
    )


def _length_of(about: dict[str, Any]) -> str:
    """Steps, tokens, minutes and precision of a training."""
    said = f"{about['steps']:,} steps, {about['tokens_seen'] / 1e6:.1f} million tokens"
    if "minutes" in about:
        about = about | {"seconds": 60 * about["minutes"]}
    if "seconds" in about:
        said += f", {about['seconds'] / 60:.0f} minutes on two CPU cores (shared with other work)"
    return f"{said}, {'bf16 autocast' if about.get('bfloat16', True) else 'float32'}"


def _wrapped(text: str, bullet: str = "") -> str:
    """One paragraph or list entry in lines of up to WIDTH characters."""
    return textwrap.fill(" ".join(text.split()), WIDTH, initial_indent=bullet, subsequent_indent=" " * len(bullet))


def _scores(subject: Subject, note: dict[str, Any], scores: dict[str, Any]) -> str:
    measures = [Measure(**measure) for measure in scores["measures"]]
    rows = [f"| {measure.what} | {measure.shown_with_error} | {measure.over_and_when} |" for measure in measures]
    text = "WikiText-2 *validation*" if scores["text"] == "wikitext-valid.txt" else f"`{scores['text']}`"
    read = note.get("read", "its starting encoder had read Wikipedia, from which WikiText is taken")
    told = f"On {text}, which is not in our text; {read}. Measured on {scores['date']}"
    if Capability.MLM in subject.loaded.capabilities:
        told += "; for MLM 15% of the tokens chosen, 80/10/10, rows of 128"
    if any(measure.standard_error is not None for measure in measures):
        told += ". ± is one standard error in points, as if the answers were independent"
    table = "\n".join(["| | | over |", "|---|---|---|", *rows])
    return f"{_wrapped(told + ':')}\n\n{table}\n\n```bash\npython -m pretraining corpus\n{scores['command']}\n```"


def _everyday(subject: Subject, note: dict[str, Any], scores: dict[str, Any]) -> list[str]:
    """What an NSP head does with pairs as visitors type them, from the figures; nothing for a model without one."""
    found = {measure["name"]: Measure(**measure) for measure in scores["measures"]}
    if not {"nsp_everyday", "nsp_everyday_accepted"} <= set(found):
        return []
    right, accepted = found["nsp_everyday"], found["nsp_everyday_accepted"]
    true = 2 * right.value - (1 - accepted.value)  # half of the pairs are of each class
    said = (
        f"**Refusing a pair**: of sentences as people type them it accepts {round(100 * accepted.value)} of 100 unrelated "
        f"pairs ({round(100 * true)} of 100 true ones), and so is right on {right.value:.1%}, where 50% is chance"
    )
    wanted = note.get("everyday_wanted", 0.0)
    if right.value < wanted:
        said += f"; {wanted:.0%} was wanted and is not reached"
    if (subject.folder / HEAD).is_file():
        said += (
            ". What it reads was learned when the second sentence of a false pair came from anywhere; only the head itself has "
            "seen harder ones"
        )
    elif not (subject.folder / PAIRS).is_file():
        said += (
            ". In training the second sentence of a false pair came from anywhere, so one that could follow much "
            '("Then he ...") is taken for the next whatever it is about'
        )
    return [f"{said}."]


def _samples(subject: Subject) -> list[str]:
    """What the model says itself: fifty blanks filled, or twenty beginnings continued."""
    if Capability.MLM in subject.loaded.capabilities:
        given = cloze.answers_of(subject.model, subject.tokenizer)
        run = f"python -m pretraining cloze assets/models/{subject.folder.name}"
        return [f"Of fifty everyday sentences (`{run}`): {cloze.summary(given)}."]
    if Capability.CAUSAL in subject.loaded.capabilities:
        lines = [f"- **{beginning}** {added}" for beginning, added in continuations(subject)]
        return [
            "Twenty beginnings and one continuation of each, sampled (temperature 0.7, top 40, fixed seeds):",
            "\n".join(lines),
        ]
    return []
