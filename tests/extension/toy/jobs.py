from explorer.labs.toy.schema import Lengths, LengthsParams
from explorer.models.encoding import encode
from explorer.models.loaded_model import LoadedModel


def measure(bundle: LoadedModel, params: LengthsParams) -> Lengths:
    return Lengths(tuple(token.text for token in encode(bundle, params.text).tokens))
