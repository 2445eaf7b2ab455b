"""Words as LaTeX: the signs that mean something there are written so that they show."""

_SIGNS = str.maketrans(
    {
        **{sign: rf"\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\N{NO-BREAK SPACE}": "~",
        "\N{MINUS SIGN}": r"\textminus{}",
        "·": r"\textperiodcentered{}",
        "“": "``",
        "”": "''",
    }
)


def escape_latex(text: str) -> str:
    r"""Write a text as LaTeX.

    >>> print(escape_latex("98 % & more"))
    98 \% \& more
    """
    return text.translate(_SIGNS)
