"""What a page and what a client are handed."""

from __future__ import annotations

import json

import torch

from explorer.labs.attention.views import AttentionViewParams
from explorer.labs.attention.views_document import DATA, template
from explorer.labs.attention.views_jobs import attention_view
from explorer.labs.attention.views_page import show
from explorer.models.loaded_model import LoadedModel


def test_the_page_fills_the_document_that_a_client_gets(albert: LoadedModel) -> None:
    with torch.inference_mode():
        result = attention_view(albert, AttentionViewParams("the cat sat", "</script>"))
    _, page, _ = show(result, on_page=True)
    _, client, _ = show(result)
    assert template().replace(DATA, page["data"]) == client["document"]
    assert json.loads(page["data"])["title"] == page["title"]
    assert page["name"] == "attention-head-view"
