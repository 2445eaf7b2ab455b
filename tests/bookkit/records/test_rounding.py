from bookkit.records import decimals_for, format_number


def test_decimals_follow_the_rule_of_the_particle_data_group() -> None:
    for half, decimals in [
        (0.0354, 3), (0.0356, 2), (0.0949, 2), (0.1, 2), (0.9, 1), (1.0, 1), (3.5, 1), (3.6, 0),
        (4000, 0),
    ]:  # fmt: skip
        assert decimals_for((5 - half, 5 + half), 5.0) == decimals


def test_without_a_width_the_mean_says() -> None:
    for mean, decimals in [(100.0, 0), (0.25, 2), (12.34, 1), (1e6, 0)]:
        assert decimals_for((mean, mean), mean) == decimals


def test_numbers() -> None:
    for value, decimals, text in [
        (1.25, 1, "1.2"),
        (-3.0, 1, "\N{MINUS SIGN}3.0"),
        (-0.01, 1, "0.0"),
        (9999, 0, "9999"),
        (12345.6, 1, "12\N{NO-BREAK SPACE}345.6"),
    ]:
        assert format_number(value, decimals) == text
