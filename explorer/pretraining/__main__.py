"""`python -m explorer.pretraining corpus | train NAME | evaluate PATH | cloze PATH`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from explorer.errors import ExplorerError
from explorer.pretraining import corpus
from explorer.pretraining.recipes import RECIPES


def parse_arguments() -> argparse.Namespace:
    """The command line; `--help` shows it."""
    parser = argparse.ArgumentParser(prog="python -m explorer.pretraining", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    fetch = commands.add_parser("corpus", help="fetch and clean the training text")
    fetch.add_argument("--dataset", help="a data set of the hub, or a folder of one, in place of the usual text")
    fetch.add_argument("--subset", help="the data set's configuration")
    fetch.add_argument("--split", default="train")
    fetch.add_argument("--column", default="text", help="the column that holds the text")
    train = commands.add_parser("train", help="train (or resume) a bundled model")
    train.add_argument("name", choices=sorted(RECIPES))
    train.add_argument("--work", type=Path, default=Path(".cache/pretraining"), help="checkpoint and log")
    train.add_argument("--output", type=Path, help="where the model goes; default assets/models/NAME")
    train.add_argument("--steps", type=int, help="how many, in place of the recipe's")
    evaluate = commands.add_parser("evaluate", help="measure MLM and NSP on held-out text")
    cloze = commands.add_parser("cloze", help="print a model's top five for fifty everyday sentences")
    for command in (evaluate, cloze):
        command.add_argument("model", type=Path, help="a model's folder")
    evaluate.add_argument("--text", type=Path, help="a text file; default the corpus's WikiText-2 validation")
    for command in (fetch, train, evaluate):
        command.add_argument("--corpus", type=Path, default=Path("corpus"), help="a folder of .txt files")
    return parser.parse_args()


def main() -> None:
    """Run one command; the heavy libraries load only for those that need them."""
    arguments = parse_arguments()
    if arguments.command == "corpus" and arguments.dataset:
        target = corpus.from_dataset(
            arguments.dataset, arguments.subset, arguments.split, arguments.column, arguments.corpus
        )
        print(target)
    elif arguments.command == "corpus":
        corpus.build(arguments.corpus)
    elif arguments.command == "train":
        _train(arguments)
    elif arguments.command == "evaluate":
        from explorer.pretraining.evaluate import evaluate, load

        model, tokenizer = load(arguments.model)
        print(evaluate(model, tokenizer, arguments.text or arguments.corpus / "wikitext-valid.txt"))
    else:
        from explorer.pretraining import cloze

        cloze.report(arguments.model)


def _train(arguments: argparse.Namespace) -> None:
    import dataclasses

    from explorer.pretraining.train import train

    recipe = RECIPES[arguments.name]
    if arguments.steps:
        recipe = dataclasses.replace(recipe, steps=arguments.steps)
    output = arguments.output or Path("assets/models") / recipe.name
    train(recipe, arguments.corpus, arguments.work / recipe.name, output)


if __name__ == "__main__":
    try:
        main()
    except ExplorerError as error:
        sys.exit(str(error))
