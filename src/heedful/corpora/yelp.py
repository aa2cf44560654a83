"""`yelp`: the stars of a review of a business (Yelp; "review full" of Zhang, Zhao & LeCun 2015)."""

from heedful.corpora.zhang import Zhang, csv_layouts


class Yelp(Zhang):
    """Reviews of businesses."""

    name = "yelp"
    task = "stars of a review of a business"
    sizes = "650,000 / 50,000 reviews"
    how_to_get = "put Zhang et al.'s folder yelp_review_full_csv, with train.csv and test.csv, below the data folder"
    layouts = csv_layouts(["yelp_review_full_csv", "yelp/yelp_review_full_csv", "yelp"])
    names = ("1", "2", "3", "4", "5")
    columns = ("text",)
    most_sentences = 43
    most_tokens = 200
