"""A run's corpus and word vectors: are they available, and unchanged since the run began?"""

from pathlib import Path

from heedful.corpora.cache_key import same_scheme
from heedful.corpora.corpus import Corpus
from heedful.corpora.loading import content_of
from heedful.corpora.locating import source_fingerprint
from heedful.errors import BadInput, NotFound
from heedful.files import fingerprint
from heedful.runs.config import RunConfig
from heedful.runs.directory import Run


class Sources:
    """The data below a folder (None: the default folders); data that several runs share are hashed once."""

    def __init__(self, data: Path | str | None) -> None:
        self._data = data
        self._known: dict[str, str | NotFound] = {}

    def content(self, config: RunConfig) -> str:
        """The `content` of a run's corpus; NotFound if it is not available."""
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
        """Refuse a run that was begun on other data; data that are gone cannot be compared and pass."""
        config, known = run.config, run.manifest
        if "corpus" in known:
            try:
                content = self.content(config)
            except NotFound:
                content = known["corpus"]["content"]
            if content != known["corpus"]["content"]:
                raise _changed_data(run, f"corpus {config.corpus}")
        vectors = Path(config.embedding.vectors)
        content = known.get("vectors", {}).get("content")
        if content is not None and vectors.is_file() and content != source_fingerprint(vectors):
            raise _changed_data(run, str(vectors))


def check_reading(run: Run, corpus: Corpus) -> str:
    """Refuse a run whose corpus was read by other code; a notice if its key is too old to tell, else nothing.

    Keys of an earlier scheme cannot be compared: what was read must be the same in content, classes and counts.
    """
    recorded = run.manifest.get("corpus", {})
    key = recorded.get("fingerprint", corpus.fingerprint)
    if key == corpus.fingerprint:
        return ""
    current = {"content": corpus.content, "classes": list(corpus.classes), "counts": corpus.counts()}
    if same_scheme(key) or any(recorded.get(name) != value for name, value in current.items()):
        raise _changed_data(run, f"the code that reads corpus {run.config.corpus}")
    return f"begun by an earlier version of heedful; corpus {run.config.corpus} has the same content, so it resumes"


def _changed_data(run: Run, what: str) -> BadInput:
    return BadInput(
        f"{run.folder} was begun on other data: {what} has changed since; remove the directory or choose another --out"
    )
