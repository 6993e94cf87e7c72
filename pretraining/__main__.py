"""`python -m pretraining corpus | train NAME | head PATH | evaluate PATH | cloze PATH | card PATH | sums PATH | probes`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from explorer.errors import BadInputError, ExplorerError
from explorer.settings import BUNDLED_MODELS
from pretraining import corpus
from pretraining.further import CAN_GO_ON, further
from pretraining.pair_recipes import PAIR_RECIPES
from pretraining.recipes import RECIPES as FIRST_RECIPES

RECIPES = {**FIRST_RECIPES, **PAIR_RECIPES}


def parse_arguments() -> argparse.Namespace:
    """The command line; `--help` shows it."""
    parser = argparse.ArgumentParser(prog="python -m pretraining", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    fetch = commands.add_parser("corpus", help="fetch and clean the training text")
    fetch.add_argument("--dataset", help="a data set of the hub, or a folder of one, in place of the usual text")
    fetch.add_argument("--subset", help="the data set's configuration")
    fetch.add_argument("--split", default="train")
    fetch.add_argument("--column", default="text", help="the column that holds the text")
    train = commands.add_parser("train", help="train (or resume) a bundled model")
    train.add_argument("name", choices=sorted(RECIPES))
    train.add_argument("--steps", type=int, help="how many, in place of the recipe's")
    train.add_argument(
        "--further",
        type=int,
        nargs="+",
        metavar="STEPS",
        help=f"go on from the finished model ({', '.join(CAN_GO_ON)}); of several numbers the last is run, the others were",
    )
    train.add_argument(
        "--start", help="what to start from: a bundled model, a folder or a hub id (for DistilBERT its teacher)"
    )
    train.add_argument(
        "--models", type=Path, default=BUNDLED_MODELS, help="where finished models are and where this one goes"
    )
    head = commands.add_parser("head", help="fit a finished model's NSP head anew, and nothing else of it")
    evaluate = commands.add_parser("evaluate", help="measure on held-out text what the model has heads for")
    card = commands.add_parser(
        "card", help="measure a finished model and write its README.md, scores.json and curve.json"
    )
    card.add_argument(
        "--keep-scores", action="store_true", help="only the words have changed: take the figures of scores.json"
    )
    cloze = commands.add_parser("cloze", help="print a model's top five for fifty everyday sentences")
    sums = commands.add_parser("sums", help="list a model's files as they are now, after a change that was meant")
    commands.add_parser("probes", help="write the sentences with labels for probes")
    for command in (head, evaluate, card, cloze, sums):
        command.add_argument("model", type=Path, help="a model's folder")
    evaluate.add_argument("--keep", action="store_true", help="write scores.json into the model's folder too")
    evaluate.add_argument(
        "--everyday", action="store_true", help="only NSP on the 200 everyday pairs, which need no text"
    )
    for command in (evaluate, card):
        command.add_argument("--text", type=Path, help="a text file; default the corpus's WikiText-2 validation")
    for command in (fetch, train, head, evaluate, card):
        command.add_argument("--corpus", type=Path, default=Path("corpus"), help="a folder of .txt files")
    for command in (train, head, card):
        command.add_argument("--work", type=Path, default=Path(".cache/pretraining"), help="checkpoints and logs")
    return parser.parse_args()


def main() -> None:
    """Run one command; the heavy libraries load only for those that need them."""
    arguments = parse_arguments()
    COMMANDS[arguments.command](arguments)


def _corpus(arguments: argparse.Namespace) -> None:
    if arguments.dataset:
        given = (arguments.dataset, arguments.subset, arguments.split, arguments.column)
        print(corpus.from_dataset(*given, arguments.corpus))
    else:
        corpus.build(arguments.corpus)


def _train(arguments: argparse.Namespace) -> None:
    import dataclasses

    from pretraining.objectives.base import Place
    from pretraining.train import train

    changes = {name: getattr(arguments, name) for name in ("steps", "start") if getattr(arguments, name)}
    recipe = dataclasses.replace(RECIPES[arguments.name], **changes)
    if arguments.further is not None:
        if changes or min(arguments.further) < 1:
            raise BadInputError("--further takes one step or more, and neither --steps nor --start beside it.")
        if arguments.name not in CAN_GO_ON:
            raise BadInputError(f"{arguments.name} cannot go on by itself; these can: {', '.join(CAN_GO_ON)}.")
        recipe = further(arguments.name, *arguments.further)
    print(*train(recipe, Place(arguments.corpus, arguments.work, arguments.models)), sep="\n")


def _head(arguments: argparse.Namespace) -> None:
    from pretraining.nsp_head import fit_head
    from pretraining.objectives.base import Place
    from pretraining.pair_recipes import HeadRecipe

    place = Place(arguments.corpus, arguments.work, arguments.model.parent)
    record = fit_head(arguments.model, HeadRecipe(), place)
    print(record.read_text(encoding="utf-8"), end="")


def _evaluate(arguments: argparse.Namespace) -> None:
    from pretraining.evaluate import evaluate, evaluate_everyday

    if arguments.everyday:
        found = evaluate_everyday(arguments.model, arguments.keep)
    else:
        found = evaluate(arguments.model, _text(arguments), arguments.keep)
    print(*found, sep="\n")


def _card(arguments: argparse.Namespace) -> None:
    from pretraining.card import write_card

    print(write_card(arguments.model, _text(arguments), arguments.work, arguments.keep_scores))


def _text(arguments: argparse.Namespace) -> Path:
    return Path(arguments.text or arguments.corpus / "wikitext-valid.txt")


def _cloze(arguments: argparse.Namespace) -> None:
    from pretraining import cloze

    cloze.report(arguments.model)


def _sums(arguments: argparse.Namespace) -> None:
    from explorer.models.folders import write_sums

    print(write_sums(arguments.model))


def _probes(_: argparse.Namespace) -> None:
    from explorer.settings import PROBES
    from pretraining.probe_sentences import write

    write(PROBES)


COMMANDS = {
    "corpus": _corpus,
    "train": _train,
    "head": _head,
    "evaluate": _evaluate,
    "card": _card,
    "cloze": _cloze,
    "sums": _sums,
    "probes": _probes,
}


if __name__ == "__main__":
    try:
        main()
    except ExplorerError as error:
        sys.exit(str(error))
