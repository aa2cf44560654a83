"""One rule that answers: may this attention be shown as an explanation?"""
