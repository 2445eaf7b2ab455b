"""Published models: the bytes that were counted by hand from their files."""

import pytest

from bookkit.atlas.history import history
from bookkit.atlas.published import published
from bookkit.atlas.rows import load_atlas

LONG = 131_072


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("gemma2", 23_253_049_344),
        ("qwen3_next", 3_299_082_240),
        ("nemotron_h", 854_671_360),
        ("mimo_v2_flash", 3_045_457_920),
        ("glm_moe_dsa", 14_394_851_328),
        ("deepseek_v4", 907_582_464),
        ("llama4_text", 7_650_263_040),
        ("deepseek_v3", 9_210_691_584),
        ("gpt_oss", 4_836_519_936),
        ("llama", 17_179_869_184),
        ("gemma4_text", 11_575_459_840),
        ("qwen3_5", 8_744_861_696),
        # 10 full layers and 52 windows of 16 heads of 128
        ("gemma3_text", 8192 * (10 * LONG + 52 * 1023)),
        # 20 states and their convolutions, and 7 layers with latents
        ("kimi_linear", 20 * (4 * 32 * 128**2 + 2 * 4 * 3 * 32 * 128) + 7 * 576 * 2 * LONG),
    ],
)
def test_a_published_model_keeps_what_was_counted_by_hand(name: str, kept: int) -> None:
    assert load_atlas().row(name).spec.state_bytes(LONG) == kept


def test_every_architecture_has_a_year_and_sizes_say_whose_they_are() -> None:
    rows = load_atlas().rows
    assert published().keys() == {row.model_type for row in rows}
    for one in published().values():
        assert 2019 <= one.year <= 2026
        assert bool(one.model) == bool(one.file) == bool(one.config) == bool(one.checked)


def test_the_models_of_the_lesson_come_in_their_order_and_say_what_they_are() -> None:
    models = list(history().values())
    assert len(models) == 10
    assert [model.date[-4:] for model in models] == sorted(model.date[-4:] for model in models)
    assert models[0].spec.state_bytes(1) == 2 * 48 * 25 * 64 * 2
    for model in models:
        assert model.url.startswith("https://")
        assert len(model.words) >= 3
