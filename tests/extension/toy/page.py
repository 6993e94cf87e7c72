from explorer.labs.toy import MEASURE
from explorer.labs.toy.figures import lengths_figure, lengths_sentence
from explorer.labs.toy.schema import LengthsParams
from explorer.ui.controls import controls
from explorer.ui.kit import View, asks, bench, shows
from explorer.ui.page import Page
from explorer.ui.wiring import Connection


def build(page: Page) -> None:
    with bench():
        with asks():
            inputs = controls(LengthsParams, "text")
        with shows():
            view = View("toy", "toy", lengths_sentence, lengths_figure)
    Connection(page, MEASURE, inputs, view).on(inputs["text"].submit, *page.ready)
