"""What a run is made from, its corpus and word vectors: is it at hand, and still what it was?"""

from pathlib import Path

from heedful.corpora.loading import content_of
from heedful.corpora.locating import source_fingerprint
from heedful.errors import BadInput, NotFound
from heedful.files import fingerprint
from heedful.runs.config import RunConfig
from heedful.runs.directory import Run


class Sources:
    """The data below a folder (None: the usual ones); what several runs are made from is looked at once."""

    def __init__(self, data: Path | str | None) -> None:
        self._data = data
        self._known: dict[str, str | NotFound] = {}

    def content(self, config: RunConfig) -> str:
        """The fingerprint of a run's corpus; NotFound if it is not at hand."""
        key = fingerprint([config.corpus, config.corpus_options, config.subset])
        if key not in self._known:
            options, subset = config.corpus_options, config.subset
            try:
                self._known[key] = content_of(config.corpus, options=options, data=self._data, subset=subset)
            except NotFound as error:
                self._known[key] = error
        known = self._known[key]
        if isinstance(known, NotFound):
            raise NotFound(str(known))
        return known

    def check(self, run: Run) -> None:
        """Refuse a run that was done on other data; data that are not there any more are not missed."""
        config, known = run.config, run.manifest
        if "corpus" in known:
            try:
                content = self.content(config)
            except NotFound:
                content = known["corpus"]["content"]
            if content != known["corpus"]["content"]:
                raise other_data(run, f"corpus {config.corpus}")
        vectors = Path(config.embedding.vectors)
        content = known.get("vectors", {}).get("content")
        if content is not None and vectors.is_file() and content != source_fingerprint(vectors):
            raise other_data(run, str(vectors))


def other_data(run: Run, what: str) -> BadInput:
    """The error of a run that cannot go on."""
    return BadInput(
        f"{run.folder} was begun on other data: {what} has changed since; remove the directory or choose another --out"
    )
