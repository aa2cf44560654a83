"""What rankings of items are called in tables."""


def ranking_name(ranking: str) -> str:
    """A name for people.

    >>> ranking_name("gradient_attention"), ranking_name("leave_one_out")
    ('gradient x attention', 'leave one out')
    """
    return ranking.replace("gradient_attention", "gradient x attention").replace("_", " ")
