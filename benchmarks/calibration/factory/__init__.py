"""A factory of trained models of which it is known what their attention is worth: faithful, misleading, or right by
coincidence. The verdict ("may this attention be shown as an explanation?") is calibrated on them.

    python -m benchmarks.calibration.factory --out FOLDER --models 660 --seed 0 --workers 2

trains so many models, the kinds in turn, in about a second of processor time each, and prints how many came out as
intended. It goes on where it was stopped; the same seed makes the same models. `production.load` gives a model as an
audit sees it, its test texts, their labels, and the words that decide.

- `tasks`: generated texts with exact rules; of every text it is known which words decide. `coding`: as tensors.
- `networks`, `transformer`: a bag of words, CNN, BiLSTM and HAN that pool by attention; BERT of one to three layers.
- `kinds`: where attention is made to look, and how information gets to the classes past it. `plans`: what each model
  is made of.
- `training`: labels, and losses on attention: where to look, and what may be known where it does not look.
- `checks`: what a trained model turned out to be, and which are excluded. The thresholds and their reasons are there.
- `production`: a directory each, and loading it again.

**Faithful by construction** means that the attended words are the only path. States of a bag know of their own word. A
BERT of one layer decides from the first token's state, which is that token's own embedding, the same in every text, and
what its attention adds. In deeper ones, and where encoders carry words to their neighbours, training asks for more: the
layers below keep to their own words, and with attention off the cues nothing can be told.

**Couriers** are the opposite with the same tools: a first layer copies the cues into a word that every text has, the
last layer looks at that word only, and with attention elsewhere nothing can be told. That word is necessary, and says
nothing.

Training makes a model likely to be of its kind. The checks, which do not know how it was trained, say whether it is.
"""
