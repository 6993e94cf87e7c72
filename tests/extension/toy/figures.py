from explorer.charts import Picture, axis, bars, chart
from explorer.labs.toy.schema import Lengths
from explorer.tables import Table


def lengths_table(result: Lengths) -> Table:
    return Table.each(result.tokens, token=str, letters=len)


def lengths_sentence(result: Lengths) -> str:
    return f"{len(result.tokens)} tokens."


def lengths_figure(result: Lengths) -> Picture:
    drawn = bars(list(result.tokens), [len(token) for token in result.tokens], "@first", upright=True)
    return chart(lengths_sentence(result), [drawn], axis(names=True), axis("letters", zero=True))
