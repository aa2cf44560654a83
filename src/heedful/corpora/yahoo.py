"""`yahoo`: the topic of a question with its best answer (Yahoo! Answers; Zhang, Zhao & LeCun 2015).

Serrano & Smith 2019 drew as many documents of each topic from the same source in XML; these are Zhang et al.'s.
"""

from heedful.corpora.zhang import Zhang, csv_layouts


class Yahoo(Zhang):
    """Questions and answers."""

    name = "yahoo"
    task = "topic of a question with its best answer"
    sizes = "1,400,000 / 60,000 questions of 10 topics"
    how_to_get = "put Zhang et al.'s folder yahoo_answers_csv, with train.csv and test.csv, below the data folder"
    layouts = csv_layouts(["yahoo_answers_csv", "yahoo/yahoo_answers_csv", "yahoo"])
    names = (
        "Society & Culture",
        "Science & Mathematics",
        "Health",
        "Education & Reference",
        "Computers & Internet",
        "Sports",
        "Business & Finance",
        "Entertainment & Music",
        "Family & Relationships",
        "Politics & Government",
    )
    columns = ("question title", "question content", "best answer")
    most_sentences = 50
    most_tokens = 350
    limited = ("train", "dev")
