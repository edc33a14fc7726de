"""Errors, divided by what to do next.

SluiceError
├── Rejected(code, reason)  this document cannot pass as it is     -> quarantine, the run goes on
├── Transient               service busy, timeout, lock            -> retry what is left
├── Conflict                someone else moved it                  -> skip, log
├── Misconfigured           wrong key, missing model, bad setting  -> stop at once, say which
└── Systemic                too many alike failures in one batch   -> stop: it is not the documents
"""

from enum import StrEnum


class Code(StrEnum):
    """Every stable code that a user can meet. The docstring-like text after each is its README line."""

    description: str

    def __new__(cls, value: str, description: str) -> "Code":
        member = str.__new__(cls, value)
        member._value_ = value
        member.description = description
        return member

    # input of `sluice try`
    INPUT_BAD_LINE = "input.bad_line", "A line is not the JSON object that is asked for."
    # scan
    SCAN_UNREADABLE = "scan.unreadable", "The file cannot be opened or read."
    SCAN_BAD_NAME = "scan.bad_name", "The file name is not valid UTF-8; the name is kept percent-encoded."
    SCAN_OUTSIDE = "scan.outside", "The path leaves the source (symbolic link, `..`)."
    SCAN_LOOP = "scan.loop", "A symbolic link leads back to one of its parents."
    SCAN_TOO_LARGE = "scan.too_large", "The file is larger than the source allows."
    SCAN_SOURCE_GONE = "scan.source_gone", "The source is not there (unmounted, wrong location)."
    SCAN_SOURCE_DENIED = "scan.source_denied", "The source is there, but may not be read."
    SCAN_SOURCE_DOWN = "scan.source_down", "The source does not answer, or stopped in the middle of its listing."
    SCAN_BAD_LISTING = "scan.bad_listing", "The source's listing is not what its entry in sources.yaml says."
    SCAN_BREAKER = "scan.breaker", "Too much of a source would vanish; nothing was removed."
    # parse
    PARSE_EMPTY = "parse.empty", "The file has no bytes."
    PARSE_UNSUPPORTED = "parse.unsupported", "No parser for what the content is."
    PARSE_MISMATCH = "parse.mismatch", "The content is not what the file name says."
    PARSE_CORRUPT = "parse.corrupt", "The file is damaged and cannot be read."
    PARSE_TRUNCATED = "parse.truncated", "The file ends too early; its text is lost."
    PARSE_ENCRYPTED = "parse.encrypted", "The file asks for a password."
    PARSE_XFA = "parse.xfa", "A dynamic XFA form: its pages hold only a placeholder."
    PARSE_NO_TEXT = "parse.no_text", "No text was found, with OCR too."
    PARSE_GARBLED = "parse.garbled", "The text layer is garbled, and OCR did not help."
    PARSE_PAGE_FAILED = "parse.page_failed", "A page could not be read by any route."
    PARSE_TIMEOUT = "parse.timeout", "Parsing took longer than allowed."
    PARSE_MEMORY = "parse.memory", "Parsing needed more memory than allowed."
    PARSE_CRASHED = "parse.crashed", "The parser process died."
    PARSE_FAILED = "parse.failed", "The parser raised an error."
    PARSE_TOO_MANY_PAGES = "parse.too_many_pages", "More pages than allowed."
    PARSE_BOMB = "parse.bomb", "The file unpacks to far more than its size (zip or image bomb)."
    PARSE_TRAVERSAL = "parse.traversal", "An archive member would be written outside its folder."
    PARSE_XXE = "parse.xxe", "The XML asks for external entities."
    PARSE_LEGACY = "parse.legacy", "A legacy Office file, and LibreOffice is not installed."
    PARSE_MACROS = "parse.macros", "An Office file that carries macros."
    PARSE_LONG_LINE = "parse.long_line", "One line is longer than any text that people write."
    PARSE_BINARY = "parse.binary", "The content is not text in any known encoding."
    PARSE_LOGIN_PAGE = "parse.login_page", "An HTML page stands in for the document that was asked for."
    CHUNK_TOO_LONG = "chunk.too_long", "A piece cannot be split under the embedder's limit."
    # vision: warnings on pages, not rejections
    VISION_DESCRIBED = (
        "vision.described",
        "A vision model described a figure or read a table: compare it with the page.",
    )
    VISION_INVENTED = (
        "vision.invented",
        "The vision model named numbers that are not in its picture; they are left out.",
    )
    VISION_FAILED = "vision.failed", "The vision model gave no usable answer: the figure or table stays as it was read."
    VISION_AWAY = "vision.away", "The vision model did not answer; `sluice sync --from parse --force NAME` asks again."
    # hidden text and injection: flags on blocks, not rejections
    HIDDEN_INVISIBLE = "hidden.invisible", "Text drawn in invisible mode."
    HIDDEN_WHITE = "hidden.white", "Text in the colour of its background."
    HIDDEN_TINY = "hidden.tiny", "Text too small to read."
    HIDDEN_OFF_PAGE = "hidden.off_page", "Text outside the page."
    HIDDEN_COVERED = "hidden.covered", "Text under an image."
    HIDDEN_MARKUP = "hidden.markup", "Text hidden by markup (CSS, hidden slide, hidden sheet)."
    INJECTION = "injection.suspected", "The text speaks to a language model."
    # dedup
    DEDUP_SAME = "dedup.same_as", "The same text is already in the knowledge base."
    # mask
    PII_UNMASKABLE = "pii.unmaskable", "Personal data was seen but could not be masked safely."
    PII_LEAK = "pii.leak", "The index holds text that looks like raw personal data."
    # score
    QUALITY_LOW = "quality.low", "The text is not worth indexing; the signals say why."
    QUALITY_GARBLED = "quality.garbled", "The text reads as noise."
    # extract
    LLM_UNGROUNDED = "llm.ungrounded", "The model named something that the text does not contain."
    LLM_BUDGET = "llm.budget", "The run's budget of model tokens is used up."
    LLM_FAILED = "llm.failed", "The language model did not give a usable answer."
    # review and release
    REVIEW_DECLINED = "review.declined", "A reviewer declined the change."
    REVIEW_HELD = "review.held", "A reviewer holds the change."
    REVIEW_FOUR_EYES = "review.four_eyes", "The policy asks for another person than the one who started the change."
    RELEASE_UNKNOWN = "release.unknown", "No release of that number."
    RELEASE_STATE = "release.state", "The release is not in a state that allows this."
    RELEASE_OUTDATED = "release.outdated", "A newer release is live; this one's changes go into the next."
    RELEASE_UNFINISHED = "release.unfinished", "Another publication is unfinished: recover or abort it first."
    RELEASE_ROLLED_BACK = "release.rolled_back", "A rollback took this version back."
    RELEASE_READ_BACK = "release.read_back", "The index does not hold what was written."
    GATE_FAILED = "release.gate_failed", "Evaluation or leak scan stopped the release."
    RELEASE_VACUUMED = "release.vacuumed", "The release was vacuumed: its rows are gone, and nobody can read at it."
    RELEASE_EMPTY = "release.empty", "Nothing is left to publish."
    CONFLICT_UNDECIDABLE = "conflict.undecidable", "That strategy names no winner, or says too little."
    # state
    STATE_MOVE = "state.move", "That change of state is not allowed."
    STATE_LOST_RACE = "state.lost_race", "Someone else moved it first."
    UNKNOWN_SUBJECT = "subject.unknown", "No such document, version, chunk or source."
    QUARANTINED = "governance.quarantined", "A person put this into quarantine."
    FORGOTTEN = "governance.forgotten", "Erased on request; it may not come back."
    ERASURE_INCOMPLETE = "governance.erasure_incomplete", "The read-back after an erasure still found something."
    VAULT_UNKNOWN = "vault.unknown", "The vault holds no value for this token, or its key is another one."
    # systems
    INDEX_DOWN = "index.down", "The vector index does not answer."
    INDEX_GONE = "index.gone", "The index has lost a collection that SQL names: run `sluice reconcile --repair`."
    INDEX_REFUSED = "index.refused", "The vector index refused the request."
    DATABASE_DOWN = "database.down", "The database does not answer."
    LOCKED = "system.locked", "Another run is doing this; try again when it has ended."
    INTERRUPTED = "system.interrupted", "The command was ended from outside; run it again to go on."
    SYSTEMIC = "system.systemic", "Too many documents failed in the same way: it is not the documents."
    BAD_SETTING = "config.bad_setting", "A setting is wrong."
    BAD_SOURCES = "config.bad_sources", "sources.yaml is wrong."
    MISSING_MODEL = "config.missing_model", "A model or its weights are not there."
    MODEL_DOWN = "model.down", "A model server (embedder, reranker, language model) does not answer."
    MODEL_REFUSED = "model.refused", "A model server refused the request, or its answer cannot be read."
    EMBEDDER_CHANGED = "config.embedder_changed", "The embedder is not the one that the live index was built with."
    NOT_INITIALISED = "config.not_initialised", "Run `sluice init` first."
    STORE_DOWN = "store.down", "The artifact store does not answer."
    AIRFLOW_DOWN = "airflow.down", "Airflow does not run or does not answer."
    AIRFLOW_REFUSED = "airflow.refused", "Airflow refused the request."
    UNAUTHORISED = "http.unauthorised", "A caller names a reader without the token that makes it trusted."
    BAD_REQUEST = "http.bad_request", "The body of a request is not what the endpoint takes."
    INTERNAL = "internal.error", "A defect of Sluice itself."


class SluiceError(Exception):
    """Base of all: carries a stable code and a sentence for a person."""

    def __init__(self, code: Code, reason: str) -> None:
        super().__init__(f"{code.value}: {reason}")
        self.code = code
        self.reason = reason

    def __reduce__(self) -> tuple[type["SluiceError"], tuple[Code, str]]:
        # Exceptions cross process borders (parser workers): both arguments must travel.
        return (type(self), (self.code, self.reason))


class Rejected(SluiceError):
    """This document cannot pass as it is: quarantine it and go on."""


class Transient(SluiceError):
    """Busy, timeout, lock: try again what is left."""


class Conflict(SluiceError):
    """Someone else moved it: skip."""


class Misconfigured(SluiceError):
    """Stop at once: a person has to change a setting."""


class Systemic(SluiceError):
    """Too many alike failures: stop."""
