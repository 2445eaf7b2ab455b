"""What decoders of the atlas cost by formula is what their code computes and keeps."""

import torch

from companion.cost import measure_flops, token_cost
from companion.models.atlas import DecoderModel, LayerSpec, read_config
from companion.models.atlas.model import state_numbers
from experiments.atlas.check import toy_config
from experiments.atlas.rows import Row
from tests.models.atlas.test_parity import rows

BEFORE = 19


@rows
def test_a_token_costs_what_the_formulas_say(row: Row) -> None:
    spec = read_config(toy_config(row).to_dict(), path=row.name)
    model = DecoderModel(spec).eval()
    tokens = torch.randint(0, spec.vocab_size, (1, BEFORE + 1))
    with torch.no_grad():
        _, states = model(tokens[:, :-1])
        measured = measure_flops(lambda: model(tokens[:, -1:], states))
    cost = token_cost(spec, BEFORE, itemsize=4)
    assert measured + sum(map(uncounted, spec.layers)) == cost.operations
    assert cost.bytes == 4 * (state_numbers(states) + sum(map(one_input, spec.layers)))


def uncounted(layer: LayerSpec) -> int:
    """Operations that torch does not see as matrix products: a state's writing, a convolution.

    Both are a multiplication and an addition for every number that is kept: of the state, and of
    the w inputs of every channel.
    """
    return sum(2 * part.numbers for part in layer.reads() if part.tokens is None)


def one_input(layer: LayerSpec) -> int:
    """Numbers of the one input that the library keeps of every channel and ours do not need."""
    return sum(
        part.numbers // getattr(mixer, "conv_width", 1)
        for mixer in (layer.mixer, layer.beside)
        if mixer is not None
        for part in mixer.keeps()
        if part.what == "inputs of the convolution"
    )
