"""`amazon`: the stars of a review of a product (Amazon; "review full" of Zhang, Zhao & LeCun 2015).

The title is read before the text; whether Serrano & Smith 2019 read it, their released code does not tell.
"""

from heedful.corpora.zhang import Zhang, csv_layouts


class Amazon(Zhang):
    """Reviews of products."""

    name = "amazon"
    task = "stars of a review of a product"
    sizes = "3,000,000 / 650,000 reviews"
    how_to_get = "put Zhang et al.'s folder amazon_review_full_csv, with train.csv and test.csv, below the data folder"
    layouts = csv_layouts(["amazon_review_full_csv", "amazon_review_csv", "amazon/amazon_review_full_csv", "amazon"])
    names = ("1", "2", "3", "4", "5")
    columns = ("title", "text")
    most_sentences = 15
    most_tokens = 130
