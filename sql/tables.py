"""The governance state: one table per word of the design. Portable over SQLite (WAL) and MySQL 8 / MariaDB 10.11.

`born` and `died` are release numbers: a row is visible at release R when born <= R < died.
"""

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Insert,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateTable

metadata = MetaData()
# MySQL takes the smallest type that holds so many characters (of up to four bytes) or bytes: LONGTEXT, MEDIUMBLOB.
LongText = Text(2**30 - 1)
MediumBlob = LargeBinary(2**24 - 1)
Big = BigInteger().with_variant(Integer(), "sqlite")


@compiles(CreateTable, "mysql", "mariadb")
def _create(element: CreateTable, compiler: Any, **options: Any) -> str:
    """Names and uris differ by case and by accents: MySQL must compare them byte by byte, as SQLite does."""
    # Not as arguments of Table: those load the dialect, a third of a second, wherever this module is imported.
    made: str = compiler.visit_create_table(element, **options)
    return f"{made.rstrip()} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin ENGINE=InnoDB"


def _table(name: str, *columns: Any, **options: Any) -> Table:
    return Table(name, metadata, *columns, **options)


def insert_ignore(table: Table) -> Insert:
    """An insert that leaves a row of the same key as it is."""
    statement = table.insert()
    return statement.prefix_with("OR IGNORE", dialect="sqlite").prefix_with("IGNORE", dialect="mysql")


knowledge_base = _table(
    "knowledge_base",
    Column("name", String(64), primary_key=True),
    Column("live_release", Integer, nullable=False, default=0),
    Column("last_release", Integer, nullable=False, default=0),
    Column("collection", String(128), nullable=False, default=""),
    Column("embedder", String(32), nullable=False, default=""),
    Column("created", Double, nullable=False),
)
access_set = _table(
    "access_set",
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("principals", String(700), nullable=False, unique=True),
)
source = _table(
    "source",
    Column("kb", String(64), primary_key=True),
    Column("name", String(64), primary_key=True),
    Column("config", JSON, nullable=False),
    Column("acl", Integer, nullable=False),
    Column("synced", Double),
)
document = _table(
    "document",
    Column("id", String(32), primary_key=True),
    Column("kb", String(64), nullable=False),
    Column("source", String(64), nullable=False),
    # File names may hold personal data: what is shown is masked, what is compared is a keyed hash, and the name itself
    # is sealed with the installation's key.
    Column("uri", String(2048), nullable=False),
    Column("name_key", String(32), nullable=False),
    Column("name_sealed", Text, nullable=False),
    Column("token", String(128), nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("size", Big, nullable=False, default=0),
    Column("acl", Integer, nullable=False),
    Column("present", Boolean, nullable=False, default=True),
    Column("seen", Double, nullable=False),
    # The document whose file holds this one's (an attachment, a member of an archive).
    Column("parent", String(32), index=True),
    Index("document_source", "kb", "source"),
    Index("document_name", "name_key"),
)
version = _table(
    "version",
    Column("id", String(32), primary_key=True),
    Column("kb", String(64), nullable=False),
    Column("document", String(32), nullable=False, index=True),
    Column("number", Integer, nullable=False),
    Column("parent", String(32)),
    Column("sha256", String(64), nullable=False),
    Column("uri", String(2048), nullable=False),
    Column("title", String(1024), nullable=False, default=""),
    Column("language", String(16), nullable=False, default="und"),
    Column("dated", String(32)),
    Column("state", String(32), nullable=False),
    Column("layer", String(16)),
    Column("artifacts", JSON, nullable=False),
    Column("facts", JSON, nullable=False),
    Column("fingerprint", String(64), nullable=False, default=""),
    Column("rerun", JSON),
    Column("ingested_by", String(128), nullable=False),
    Column("run", String(64), nullable=False),
    Column("created", Double, nullable=False),
    Index("version_state", "kb", "state"),
)
version_chunk = _table(
    "version_chunk",
    Column("version", String(32), primary_key=True),
    Column("chunk", String(32), primary_key=True),
    Column("ordinal", Integer, nullable=False),
    Column("content_hash", String(64), nullable=False),
    Column("page_start", Integer),
    Column("page_end", Integer),
    Column("band", String(16), nullable=False, default="index"),
    Column("quality", Double, nullable=False, default=1.0),
    Column("subject", String(32), nullable=False, default=""),
    Index("version_chunk_chunk", "chunk"),
    Index("version_chunk_subject", "subject"),
)
document_release = _table(
    "document_release",
    Column("document", String(32), primary_key=True),
    Column("born", Integer, primary_key=True),
    Column("kb", String(64), nullable=False),
    Column("version", String(32), nullable=False),
    Column("died", Big, nullable=False),
    Index("document_release_kb", "kb", "died"),
)
chunk = _table(
    "chunk",
    Column("id", String(64), primary_key=True),
    Column("kb", String(64), nullable=False),
    Column("chunk", String(32), nullable=False),
    Column("document", String(32), nullable=False),
    Column("version", String(32), nullable=False),
    Column("source", String(64), nullable=False),
    Column("born", Integer, nullable=False),
    Column("died", Big, nullable=False),
    Column("content_hash", String(64), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("language", String(16), nullable=False),
    Column("authority", Integer, nullable=False),
    Column("dated", Integer, nullable=False, default=0),
    Column("section", JSON, nullable=False),
    Column("context", LongText, nullable=False),
    Column("text", LongText, nullable=False),
    Column("html", LongText),
    Column("parent", LongText),
    Column("quality", Double, nullable=False, default=1.0),
    Index("chunk_document", "document", "died"),
    Index("chunk_born", "kb", "born"),
    Index("chunk_died", "kb", "died"),
    Index("chunk_chunk", "chunk"),
)
release = _table(
    "release",
    Column("kb", String(64), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("state", String(32), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("base", Integer, nullable=False, default=0),
    Column("created", Double, nullable=False),
    Column("created_by", String(128), nullable=False),
    Column("published", Double),
    Column("counts", JSON, nullable=False),
    Column("gate", JSON),
    Column("hygiene", Boolean, nullable=False, default=True),
    Column("vacuumed", Double),
)
release_item = _table(
    "release_item",
    Column("kb", String(64), primary_key=True),
    Column("release", Integer, primary_key=True),
    Column("document", String(32), primary_key=True),
    Column("version", String(32)),
    Column("previous", String(32)),
    Column("change", String(16), nullable=False),
    Column("risk", JSON, nullable=False),
    Column("decision", String(16), nullable=False, default="pending"),
)
release_row = _table(
    "release_row",
    Column("kb", String(64), primary_key=True),
    Column("release", Integer, primary_key=True),
    Column("row", String(64), primary_key=True),
    Column("operation", String(8), primary_key=True),
)
decision = _table(
    "decision",
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("kb", String(64), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("subject", String(64), nullable=False),
    Column("verdict", String(16), nullable=False),
    Column("actor", String(128), nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", Double, nullable=False),
    Index("decision_subject", "kind", "subject"),
)
rejection = _table(
    "rejection",
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("kb", String(64), nullable=False),
    Column("subject", String(32), nullable=False, index=True),
    Column("document", String(32), nullable=False),
    Column("source", String(64), nullable=False),
    Column("uri", String(2048), nullable=False),
    Column("layer", String(16), nullable=False),
    Column("code", String(64), nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("standing", Boolean, nullable=False, default=True),
    # Of the layers up to the one that refused it, as they were then; empty where it never reached one.
    Column("fingerprint", String(64), nullable=False, default=""),
)
duplicate_link = _table(
    "duplicate_link",
    Column("a", String(32), primary_key=True),
    Column("b", String(32), primary_key=True),
    Column("outcome", String(16), nullable=False),
    Column("drop", Boolean, nullable=False),
    Column("spare", String(8), nullable=False, default="either"),
    Column("evidence", JSON, nullable=False),
    Column("decided", String(16)),
    Index("duplicate_link_b", "b"),
)
# `at` counts the rows of a knowledge base as they come, and no count is used twice: see pipelines/band_index.py.
duplicate_text = _table(
    "duplicate_text",
    Column("id", Big, primary_key=True, autoincrement=False),
    Column("kb", String(64), nullable=False),
    Column("at", Big, nullable=False),
    Column("chunk", String(32), nullable=False),
    Column("document", String(32), nullable=False),
    Column("version", String(32), nullable=False, index=True),
    Column("bands", LargeBinary(132), nullable=False),
    Index("duplicate_text_at", "kb", "at", unique=True),
)
duplicate_count = _table(
    "duplicate_count",
    Column("kb", String(64), primary_key=True),
    Column("given", Big, nullable=False),
    Column("gone", Big, nullable=False),
)
# Which numbers have left since the last vacuum, for processes that hold them in memory.
duplicate_gone = _table(
    "duplicate_gone",
    Column("kb", String(64), primary_key=True),
    Column("at", Big, primary_key=True, autoincrement=False),
    Column("text", Big, nullable=False),
)
pii_finding = _table(
    "pii_finding",
    Column("version", String(32), primary_key=True),
    Column("chunk", String(32), primary_key=True),
    Column("type", String(32), primary_key=True),
    Column("operator", String(16), nullable=False),
    Column("count", Integer, nullable=False),
)
entity = _table(
    "entity",
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("version", String(32), nullable=False, index=True),
    Column("chunk", String(32), nullable=False),
    Column("text", String(512), nullable=False),
    Column("type", String(64), nullable=False),
    Column("method", String(64), nullable=False),
)
relation = _table(
    "relation",
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("version", String(32), nullable=False, index=True),
    Column("chunk", String(32), nullable=False),
    Column("subject", String(512), nullable=False),
    Column("predicate", String(128), nullable=False),
    Column("object", String(512), nullable=False),
    Column("method", String(64), nullable=False),
)
conflict = _table(
    "conflict",
    Column("id", String(32), primary_key=True),
    Column("kb", String(64), nullable=False),
    Column("a", String(32), nullable=False),
    Column("b", String(32), nullable=False),
    Column("document_a", String(32), nullable=False, index=True),
    Column("document_b", String(32), nullable=False, index=True),
    Column("score", Double, nullable=False),
    Column("method", String(64), nullable=False),
    Column("evidence", JSON, nullable=False),
    Column("found", Double, nullable=False),
    Column("strategy", String(16), nullable=False, default="open"),
    Column("winner", String(32)),
    Column("note", Text, nullable=False),
    Column("actor", String(128), nullable=False, default=""),
    Column("decided", Double),
    Index("conflict_a", "a"),
    Index("conflict_b", "b"),
)
overlay = _table(
    "overlay",
    Column("chunk", String(32), primary_key=True),
    Column("kind", String(8), primary_key=True),
    Column("kb", String(64), nullable=False),
    Column("document", String(32), nullable=False, index=True),
    Column("text", LongText),
    Column("actor", String(128), nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", Double, nullable=False),
)
deny = _table(
    "deny",
    Column("kb", String(64), primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("subject", String(64), primary_key=True),
    Column("actor", String(128), nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", Double, nullable=False),
)
audit = _table(
    "audit",
    Column("sequence", Integer, primary_key=True, autoincrement=False),
    Column("kb", String(64), nullable=False),
    Column("at", Double, nullable=False),
    Column("actor", String(128), nullable=False),
    Column("action", String(64), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("subject", String(128), nullable=False),
    Column("reason", Text, nullable=False),
    Column("detail", LongText, nullable=False),
    Column("previous", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
    Index("audit_subject", "kind", "subject"),
)
query_log = _table(
    "query_log",
    Column("id", String(32), primary_key=True),
    Column("kb", String(64), nullable=False),
    Column("at", Double, nullable=False),
    Column("user", String(128), nullable=False),
    Column("query", Text, nullable=False),
    Column("release", Integer, nullable=False),
    Column("found", Boolean, nullable=False),
    Column("kind", String(8), nullable=False, default="search"),
    Column("evidence", Double),
    Column("steps", JSON),
    Index("query_log_at", "kb", "at"),
)
query_hit = _table(
    "query_hit",
    Column("query", String(32), primary_key=True),
    Column("rank", Integer, primary_key=True),
    Column("chunk", String(32), nullable=False),
    Column("document", String(32), nullable=False),
    Column("cited", Boolean, nullable=False, default=False),
    Index("query_hit_chunk", "chunk"),
    Index("query_hit_document", "document"),
)
feedback = _table(
    "feedback",
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("kb", String(64), nullable=False),
    Column("query", String(32), nullable=False, index=True),
    Column("verdict", String(8), nullable=False),
    Column("comment", Text, nullable=False),
    Column("user", String(128), nullable=False),
    Column("at", Double, nullable=False),
)
question = _table(
    "question",
    Column("id", String(32), primary_key=True),
    Column("kb", String(64), nullable=False),
    Column("question", Text, nullable=False),
    Column("reason", String(16), nullable=False),
    Column("times", Integer, nullable=False, default=1),
    Column("query", String(32), nullable=False, default=""),
    Column("state", String(16), nullable=False, default="open"),
    Column("label", JSON),
    Column("actor", String(128), nullable=False, default=""),
    Column("at", Double, nullable=False),
    Index("question_state", "kb", "state", "at"),
)
eval_run = _table(
    "eval_run",
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("kb", String(64), nullable=False),
    Column("release", Integer, nullable=False),
    Column("at", Double, nullable=False),
    Column("report", JSON, nullable=False),
)
quality_run = _table(
    "quality_run",
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("kb", String(64), nullable=False),
    Column("release", Integer, nullable=False),
    # `live`: what readers see at the release; `staged`: what it would bring, before it is published.
    Column("scope", String(8), nullable=False),
    Column("success", Boolean, nullable=False),
    Column("at", Double, nullable=False),
    Column("report", JSON, nullable=False),
)
derived = _table(
    # What was made from a version, noted before it is made, so that it can be erased with the version.
    "derived",
    Column("version", String(32), primary_key=True),
    Column("kind", String(8), primary_key=True),
    Column("key", String(160), primary_key=True),
    Index("derived_key", "kind", "key"),
)
vault = _table(
    "vault",
    Column("version", String(32), primary_key=True),
    Column("token", String(64), primary_key=True),
    Column("kb", String(64), nullable=False),
    Column("type", String(32), nullable=False),
    Column("sealed", LongText, nullable=False),
    Index("vault_token", "kb", "token"),
)
index_collection = _table(
    "index_collection",
    Column("kb", String(64), primary_key=True),
    Column("name", String(128), primary_key=True),
    Column("embedder", String(32), nullable=False),
    Column("dimension", Integer, nullable=False),
    Column("state", String(16), nullable=False),
    # A re-embedding names its embedder ('' elsewhere); `setting` is the one that the settings named then.
    Column("named", String(64), nullable=False, default=""),
    Column("setting", String(32), nullable=False, default=""),
    Column("created", Double, nullable=False),
)
unsettled = _table(
    # Documents whose open rows no longer fit what readers should see: the next publication takes them along.
    "unsettled",
    Column("kb", String(64), primary_key=True),
    Column("document", String(32), primary_key=True),
)
erasure = _table(
    "erasure",
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("kb", String(64), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("subject", String(64), nullable=False),
    Column("actor", String(128), nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("state", String(16), nullable=False),
    Column("plan", JSON, nullable=False),
    Column("counts", JSON, nullable=False),
    Column("certificate", JSON),
    Index("erasure_state", "kb", "state"),
)
tombstone = _table(
    # Kinds: document, version, content (SHA-256), place (id of a uri), source, chunk.
    "tombstone",
    Column("kb", String(64), primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("subject", String(64), primary_key=True),
    Column("erasure", Integer, nullable=False),
)
llm_cache = _table(
    "llm_cache",
    Column("key", String(64), primary_key=True),
    Column("reply", LongText, nullable=False),
    Column("at", Double, nullable=False),
)
lease = _table(
    "lease",
    Column("kb", String(64), primary_key=True),
    Column("name", String(32), primary_key=True),
    Column("holder", String(128), nullable=False),
    Column("actor", String(128), nullable=False),
    Column("since", Double, nullable=False),
    Column("until", Double, nullable=False),
    Column("process", Boolean, nullable=False),
)
run = _table(
    "run",
    Column("id", String(64), primary_key=True),
    Column("kb", String(64), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("actor", String(128), nullable=False),
    Column("started", Double, nullable=False),
    Column("ended", Double),
    Column("report", JSON, nullable=False),
    Index("run_started", "kb", "started"),
)
vector = _table(
    "vector",
    Column("content_hash", String(64), primary_key=True),
    Column("embedder", String(32), primary_key=True),
    Column("data", MediumBlob, nullable=False),
    UniqueConstraint("embedder", "content_hash", name="vector_embedder"),
)
