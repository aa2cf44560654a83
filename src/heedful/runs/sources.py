"""The data of a run, its corpus and word vectors: are they available, and unchanged?"""

from pathlib import Path

from heedful.corpora.loading import content_of
from heedful.corpora.locating import source_fingerprint
from heedful.errors import BadInput, NotFound
from heedful.files import fingerprint
from heedful.runs.config import RunConfig
from heedful.runs.directory import Run


class Sources:
    """The data below a folder (None: the default one); data that several runs share are hashed once."""

    def __init__(self, data: Path | str | None) -> None:
        self._data = data
        self._known: dict[str, str | NotFound] = {}

    def content(self, config: RunConfig) -> str:
        """The fingerprint of a run's corpus; raises NotFound if it is not available."""
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
        """Raise if the data of a run have changed since; data that are gone are not missed."""
        config, known = run.config, run.manifest
        if "corpus" in known:
            try:
                content = self.content(config)
            except NotFound:
                content = known["corpus"]["content"]
            if content != known["corpus"]["content"]:
                raise changed_data(run, f"corpus {config.corpus}")
        vectors = Path(config.embedding.vectors)
        content = known.get("vectors", {}).get("content")
        if content is not None and vectors.is_file() and content != source_fingerprint(vectors):
            raise changed_data(run, str(vectors))


def changed_data(run: Run, what: str) -> BadInput:
    """The error for a run whose data have changed."""
    return BadInput(
        f"{run.folder} was begun on other data: {what} has changed since; remove the directory or choose another --out"
    )
