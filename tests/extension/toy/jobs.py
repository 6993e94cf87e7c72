from explorer.labs.toy.schema import Lengths, LengthsParams
from explorer.models.bundle import Bundle
from explorer.models.encoding import encode


def measure(bundle: Bundle, params: LengthsParams) -> Lengths:
    return Lengths(tuple(token.text for token in encode(bundle, params.text).tokens))
