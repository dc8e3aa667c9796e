/**
 * The tables of a document store, and the migrations of older files. `docs/decisions/0009-document-index.md` explains the design.
 *
 * A published schema is never edited: append a migration to the list instead.
 */

/** `cris` in the file header marks document stores of cria. */
export const APPLICATION_ID = 0x63_72_69_73

const FIRST = `
  -- Ids of chunks and terms are never used again.
  CREATE TABLE facts (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO facts VALUES ('chunks', 0), ('length', 0), ('terms', 0), ('changes', 0), ('next_chunk', 1), ('next_term', 1);

  -- Long texts stand last: what comes before is read without them.
  CREATE TABLE sources (
    id           INTEGER PRIMARY KEY,
    source       TEXT NOT NULL UNIQUE,
    -- Of the text and all that is given with it: equal hashes, equal chunks.
    content_hash TEXT NOT NULL,
    -- The version of whatever turned the source into text and the text into chunks.
    recipe       TEXT NOT NULL,
    chunks       INTEGER NOT NULL,
    file_hash    TEXT,
    file_size    INTEGER,
    modified_at  REAL,
    -- The document without source and text.
    details      TEXT NOT NULL,
    -- What stands before, between and after its chunks; together with them it is the text.
    gaps         TEXT NOT NULL
  ) STRICT;
  CREATE INDEX sources_by_file_hash ON sources (file_hash) WHERE file_hash IS NOT NULL;

  CREATE TABLE chunks (
    id        INTEGER PRIMARY KEY,
    source_id INTEGER NOT NULL,
    chunk_id  TEXT NOT NULL UNIQUE,
    -- The chunk without its id, source and text.
    details   TEXT NOT NULL,
    text      TEXT NOT NULL
  ) STRICT;
  CREATE INDEX chunks_by_source ON chunks (source_id);

  -- What the index is made of: the terms of a chunk, in their order. Everything below follows from it.
  CREATE TABLE sequences (
    id    INTEGER PRIMARY KEY,
    terms BLOB NOT NULL
  ) STRICT;

  -- For each chunk its length and the key that orders equal scores, many chunks to a row.
  CREATE TABLE lengths (
    page INTEGER PRIMARY KEY,
    data BLOB NOT NULL
  ) STRICT;

  CREATE TABLE terms (
    id        INTEGER PRIMARY KEY,
    term      TEXT NOT NULL UNIQUE,
    frequency INTEGER NOT NULL
  ) STRICT;

  -- The chunks of each term, and the terms of each group of characters.
  CREATE TABLE postings (
    key  INTEGER NOT NULL,
    base INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (key, base)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE grams (
    key  TEXT NOT NULL,
    base INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (key, base)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE blocks (
    list TEXT NOT NULL,
    base INTEGER NOT NULL,
    size INTEGER NOT NULL,
    PRIMARY KEY (list, base)
  ) STRICT, WITHOUT ROWID;
`

const VECTORS = `
  -- The model that made the vectors: the current one, and while another takes its place, that one. Ids are never used again.
  CREATE TABLE embedders (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    model      TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    -- The rule by which texts are made of chunks.
    rule       INTEGER NOT NULL,
    -- What the model makes of a fixed text: tells another model of the same name.
    probe      BLOB NOT NULL,
    current    INTEGER NOT NULL,
    -- Every chunk up to this one has its vector.
    through    INTEGER NOT NULL
  ) STRICT;

  -- Numbers of 4 bytes, of length 1; no bytes for a text without a place in the space.
  CREATE TABLE vectors (
    id       INTEGER PRIMARY KEY,
    embedder INTEGER NOT NULL,
    chunk    INTEGER NOT NULL,
    data     BLOB NOT NULL,
    UNIQUE (chunk, embedder)
  ) STRICT;

  -- A bit for each number of a vector, many chunks to a row; before them a bit for each chunk that has one.
  CREATE TABLE codes (
    embedder INTEGER NOT NULL,
    page     INTEGER NOT NULL,
    data     BLOB NOT NULL,
    PRIMARY KEY (embedder, page)
  ) STRICT;
`

const BLOCKS = `
  -- The index is made again of the chunks, in other tables: what is analysed by version 0 is out of date.
  DROP TABLE sequences; DROP TABLE lengths; DROP TABLE terms; DROP TABLE postings; DROP TABLE grams; DROP TABLE blocks;
  INSERT OR REPLACE INTO facts VALUES ('analyzer', 0), ('next_block', 0), ('compacted_chunks', 0), ('compacted_terms', 0);

  -- What the index is made of: the terms of a chunk, in their order. Everything below follows from it.
  CREATE TABLE sequences (
    id    INTEGER PRIMARY KEY,
    terms BLOB NOT NULL
  ) STRICT;

  CREATE TABLE terms (
    id   INTEGER PRIMARY KEY,
    term TEXT NOT NULL UNIQUE
  ) STRICT;

  -- For each chunk its length and the key that orders equal scores, for each term how many chunks have it; many to a row.
  CREATE TABLE numbers (
    list TEXT NOT NULL,
    page INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (list, page)
  ) STRICT;

  -- The chunks of each term, and the terms of each group of characters: in blocks, which are written once.
  CREATE TABLE blocks (
    list TEXT NOT NULL,
    base INTEGER NOT NULL,
    size INTEGER NOT NULL,
    id   INTEGER NOT NULL UNIQUE,
    PRIMARY KEY (list, base)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE lists (
    block INTEGER NOT NULL,
    key   ANY NOT NULL,
    data  BLOB NOT NULL,
    PRIMARY KEY (block, key)
  ) STRICT, WITHOUT ROWID;
`

export const MIGRATIONS: readonly string[] = [FIRST, VECTORS, BLOCKS]
