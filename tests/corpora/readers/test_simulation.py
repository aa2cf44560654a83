"""The simulated stories are true to themselves, and like the published ones."""

import re
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.corpora.loading import load
from heedful.corpora.readers import babi_simulated as simulation
from heedful.corpora.registry import READERS
from heedful.randomness import Stream
from tests.strategies import examples

SENTENCE = re.compile(r"(\w+) (went|journeyed|travelled|moved|went back|[a-z ]+?)( to)? the (\w+)( there)?\.")
DROPS = ("dropped", "left", "discarded", "put down")
BINS = [0, 1, 2, 3, 4, 5, 7, 10, 15, 1000]  # of distances, in facts


def simulated(task, stories, seed=0):
    return list(READERS[f"babi-{task}-simulated"].lines("train", stories, seed))


def parsed(lines):
    """Stories of (number, sentence, None) and (number, question, (answer, numbers of supporting facts))."""
    stories = []
    for line in lines:
        number, content = line.rstrip("\n").split(" ", 1)
        if number == "1":
            stories.append([])
        text, *rest = content.split("\t")
        asked = (rest[0], [int(fact) for fact in rest[1].split()]) if rest else None
        stories[-1].append((int(number), text.strip(), asked))
    return stories


def replay(lines):
    """Go through a story with another bookkeeping than the simulator's, and check every line of it."""
    room, holder, path = {}, {}, defaultdict(list)
    for number, text, asked in lines:
        if asked is None:
            who, verb, move, what, _ = SENTENCE.fullmatch(text).groups()
            if move:
                assert room.get(who) != what
                room[who] = what
                for thing in (thing for thing, carrier in holder.items() if carrier == who):
                    path[thing].append(what)
            elif verb in DROPS:
                assert holder.pop(what) == who
                room[what] = room.get(who)
            else:
                assert what not in holder
                assert room.get(what) is None or room.get(who) in (None, room[what])
                holder[what] = who
            continue
        answer, supporting = asked
        assert all(fact < number for fact in supporting)
        if before := re.fullmatch(r"Where was the (\w+) before the (\w+)\?", text):
            visits = path[before[1]]
            latest = len(visits) - 1 - visits[::-1].index(before[2])
            assert answer == visits[latest - 1]
        else:
            asked_for = re.fullmatch(r"Where is (?:the )?(\w+)\?", text)[1]
            assert answer == room[holder.get(asked_for, asked_for)]
        told = " ".join(sentence for fact, sentence, _ in lines if fact in supporting)
        assert answer in told


@examples(30)
@given(task=st.sampled_from([1, 2, 3]), seed=st.integers(0, 2**32))
def test_every_answer_is_true_and_supported(task, seed):
    (lines,) = parsed(simulation.story(task, Stream(seed, "test").generator()))
    replay(lines)
    asked = [supporting for _, _, question in lines if question for supporting in [question[1]]]
    assert [len(supporting) for supporting in asked] == [task] * 5
    assert lines[-1][2] is not None


def test_a_larger_corpus_begins_with_the_smaller_one():
    small, large = (
        load("babi-2-simulated", options={"train": train, "dev": train, "test": train}) for train in (33, 61)
    )
    for split in ("train", "dev", "test"):
        assert small.sizes()[split] == 33
        names = ["id", "tokens", "query", "truth"]
        assert large.split(split).head(33).select(names).equals(small.split(split).select(names))


def test_seeds_and_splits_are_different_stories():
    assert simulated(1, 3, seed=1) != simulated(1, 3, seed=2)
    corpus = load("babi-1-simulated", options={"train": 50, "dev": 50, "test": 50})
    assert len({str(corpus.split(split)["tokens"].to_list()) for split in ("train", "dev", "test")}) == 3


def described(lines):
    """Figures of every story, (stories, figures), and their names."""
    rows = []
    for story in parsed(lines):
        row = Counter()
        places, facts, tokens, question = {}, 0, 0, 0
        for number, text, asked in story:
            if asked is None:
                places[number] = facts
                facts += 1
                tokens += len(text.split()) + 1
                who, verb, move, what, there = SENTENCE.fullmatch(text).groups()
                row[f"{verb}{move or ''}{there or ''}"] += 1
                row[who] += 1
                row[f"{'to' if move else 'thing'} {what}"] += 1
                row[f"{'move' if move else 'handling'} among the first four"] += facts <= 4
                continue
            question += 1
            answer, supporting = asked
            row[f"facts at question {question}"], row[f"tokens at question {question}"] = facts, tokens
            row[f"answer {answer}"] += 1
            for order, fact in enumerate(supporting):
                distance = facts - 1 - places[fact]
                row[f"supporting fact {order} {np.searchsorted(BINS, distance, side='right')}"] += 1
            row["in the order told"] += supporting == sorted(supporting)
        rows.append(row)
    names = sorted(set().union(*rows))
    return {name: np.array([row[name] for row in rows], dtype=float) for name in names}


def surprises(real, other):
    """How many standard errors apart the means over stories are; stories, not questions, are independent."""
    found = {}
    for name in real.keys() | other.keys():
        one, two = (figures.get(name, np.zeros(1)) for figures in (real, other))
        error = np.sqrt(one.var() / len(one) + two.var() / len(two))
        apart = abs(one.mean() - two.mean())
        found[name] = apart / error if error > 0 else (np.inf if apart else 0.0)
    return found


def published(real_data, task):
    """The lines of training and test questions: of task 3, a part of the former."""
    reader = READERS[f"babi-{task}"]
    options = reader.options()
    found = reader.find([real_data], options, subset=task == 3)
    return [line for split in ("train", "test") for _, line in reader._lines(found, split, options)]


LIMIT = 4  # standard errors; some 60 figures a task
STORIES = {1: 500, 2: 500, 3: 250}


@pytest.mark.parametrize("task", [1, 2, 3])
def test_the_stories_are_like_the_published_ones(real_data, task):
    lines, made = published(real_data, task), simulated(task, STORIES[task])
    assert {word for line in made for word in re.findall(r"\w+", line) if not word.isdigit()} == {
        word for line in lines for word in re.findall(r"\w+", line) if not word.isdigit()
    }
    found = surprises(described(lines), described(made))
    assert len(found) > 30
    assert {name: round(value, 1) for name, value in found.items() if value > LIMIT} == {}


@pytest.mark.parametrize(
    ("task", "change"),
    [(1, {"_RECENT": 3}), (2, {"_RECENT": 4}), (2, {"_THERE": 0.3}), (3, {"_RECENT": 6}), (3, {"ROOMS": None})],
)
def test_other_stories_would_be_noticed(real_data, monkeypatch, task, change):
    for name, value in change.items():
        monkeypatch.setattr(simulation, name, simulation.ROOMS[:5] if value is None else value)
    found = surprises(described(published(real_data, task)), described(simulated(task, STORIES[task])))
    assert max(found.values()) > LIMIT
