"""What planted subjects read: words with known embeddings, and texts of them."""

import numpy as np
from numpy.typing import NDArray

from heedful.audits.planted_plan import SHARP, Plan
from heedful.randomness import Stream

EACH = 30  # words of a sort: those that speak for a class, for another one, distractors
FILLERS = 300
SILENT = 4  # dimensions of an embedding that say nothing
CONTRARY = 0.8  # how loudly a contrary word speaks, a deciding word speaking with 1


def vocabulary(plan: Plan) -> list[str]:
    """All words, a blank first; what a word does is in its name."""
    sorts = [*(f"for{index}" for index in range(plan.classes)), *(f"not{index}" for index in range(plan.classes))]
    words = [f"{sort}-{index}" for sort in (*sorts, "draw") for index in range(EACH)]
    return ["blank", *words, *(f"word-{index}" for index in range(FILLERS))]


def embeddings(plan: Plan) -> NDArray[np.float32]:
    """Of each word (V, D): what it says for each class, the key that attention looks for, and what is never read."""
    draw = Stream(plan.seed, "planted words").generator()
    words = vocabulary(plan)
    said = draw.normal(0, plan.noise, (len(words), plan.classes))
    key = draw.normal(0, plan.blur, len(words))
    sort = np.array([word.split("-")[0] for word in words])
    for index in range(plan.classes):
        speaks, denies = sort == f"for{index}", sort == f"not{index}"
        said[speaks, index] += 1.0
        said[denies, (index + 1) % plan.classes] += CONTRARY
    key += SHARP * _looked_at(plan, sort, draw)
    table = np.concatenate([said, key[:, None], draw.normal(0, 1, (len(words), SILENT))], axis=1)
    table[0] = 0.0
    return np.asarray(table, dtype=np.float32)


def _looked_at(plan: Plan, sort: NDArray[np.str_], draw: np.random.Generator) -> NDArray[np.float64]:
    match plan.kind:
        case "random":
            return draw.normal(0, 0.5, len(sort))
        case "distracted":
            looked_at = sort == "draw"
        case "opposing":
            looked_at = np.char.startswith(sort, "not")
        case _:
            looked_at = np.char.startswith(sort, "for") | np.char.startswith(sort, "not")
    return np.asarray(looked_at, dtype=np.float64)


def written(plan: Plan) -> list[str]:
    """Texts: words that decide for a class, as many distractors, perhaps one contrary word, and filler, shuffled."""
    texts = []
    for index in range(plan.instances):
        draw = Stream(plan.seed, "planted texts").generator(index)
        label = draw.integers(plan.classes)
        length = round(plan.length * draw.uniform(0.6, 1.4))
        sorts = [f"for{label}"] * plan.deciding + ["draw"] * plan.deciding
        if plan.kind == "opposing" or draw.random() < plan.contrary:
            sorts.append(f"not{label}")
        words = [f"{sort}-{draw.integers(EACH)}" for sort in sorts]
        words += [f"word-{draw.integers(FILLERS)}" for _ in range(length - len(words))]
        texts.append(" ".join(draw.permutation(words)))
    return texts
