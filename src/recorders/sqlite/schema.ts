/**
 * Defines the tables of the journal and the migrations of older files. `docs/decisions/0008-journal.md` gives the reasons.
 *
 * Never edit a published schema: append a migration to the end of the list.
 */

/** `crij` in the header of the file, which identifies a journal of cria. */
export const APPLICATION_ID = 0x63_72_69_6a

const FIRST = `
  CREATE TABLE sessions (
    session_id   TEXT PRIMARY KEY,
    created_at   INTEGER NOT NULL,
    -- The turn that the next one follows.
    head_turn_id TEXT
  ) WITHOUT ROWID;

  -- Small columns first: a list that filters by them need not read the long texts behind.
  CREATE TABLE turns (
    id                 INTEGER PRIMARY KEY,
    turn_id            TEXT NOT NULL UNIQUE,
    session_id         TEXT NOT NULL REFERENCES sessions,
    parent_turn_id     TEXT,
    exclusive          INTEGER NOT NULL,
    state              TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'done', 'failed', 'cancelled', 'lost')),
    model              TEXT NOT NULL,
    bot_kind           TEXT,
    bot_name           TEXT,
    temperature        REAL,
    prompt_hash        TEXT,
    trace_id           TEXT NOT NULL,
    span_id            TEXT NOT NULL,
    started_at         INTEGER NOT NULL,
    ended_at           INTEGER,
    latency_ms         INTEGER,
    finish_reason      TEXT,
    input_tokens       INTEGER,
    output_tokens      INTEGER,
    total_tokens       INTEGER,
    cache_read_tokens  INTEGER,
    cache_write_tokens INTEGER,
    reasoning_tokens   INTEGER,
    exactness          TEXT NOT NULL DEFAULT 'unknown' CHECK (exactness IN ('exact', 'estimated', 'unknown')),
    cost_usd           REAL,
    rating             INTEGER,
    rating_comment     TEXT,
    error              TEXT,
    metrics            TEXT,
    question           TEXT NOT NULL,
    text               TEXT NOT NULL DEFAULT ''
  );
  CREATE INDEX turns_by_session ON turns (session_id, id);

  -- One row for each open turn, and none for the others: what changes with every batch stays small.
  CREATE TABLE leases (
    turn    INTEGER PRIMARY KEY REFERENCES turns ON DELETE CASCADE,
    until   INTEGER NOT NULL,
    -- The recorder that opened the turn, and the process it ran in.
    holder  TEXT NOT NULL,
    host    TEXT NOT NULL,
    machine TEXT NOT NULL,
    pid     INTEGER NOT NULL,
    started TEXT NOT NULL
  );

  -- Stored once: the hash is the SHA-256 of the body, which holds of a message what does not depend on its use.
  CREATE TABLE messages (
    id   INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    role TEXT NOT NULL,
    body TEXT NOT NULL
  );

  CREATE TABLE turn_messages (
    turn       INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE,
    position   INTEGER NOT NULL,
    step       INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    message    INTEGER NOT NULL,
    -- Marker and score of retrieved text.
    use        TEXT,
    PRIMARY KEY (turn, position)
  ) WITHOUT ROWID;

  CREATE TABLE events (
    turn    INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE,
    -- A row may hold several deltas: the number is that of its last event, the time that of its first.
    seq     INTEGER NOT NULL,
    step    INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    type    TEXT NOT NULL,
    body    TEXT NOT NULL,
    -- The message of a \`message\` event.
    message INTEGER,
    PRIMARY KEY (turn, seq)
  ) WITHOUT ROWID;

  CREATE TABLE tool_calls (
    turn            INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE,
    call_id         TEXT NOT NULL,
    step            INTEGER NOT NULL,
    name            TEXT NOT NULL,
    input           TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    started_at      INTEGER NOT NULL,
    -- \`unknown\`: its process died before a result was stored; whether it had its effect, nobody knows.
    state           TEXT NOT NULL DEFAULT 'started' CHECK (state IN ('started', 'done', 'failed', 'unknown')),
    -- The \`tool_result\` event.
    result_seq      INTEGER,
    PRIMARY KEY (turn, call_id, step)
  ) WITHOUT ROWID;

  CREATE TABLE spans (
    id             INTEGER PRIMARY KEY,
    trace_id       TEXT NOT NULL,
    span_id        TEXT NOT NULL,
    parent_span_id TEXT,
    turn_id        TEXT,
    name           TEXT NOT NULL,
    started_at     INTEGER NOT NULL,
    ended_at       INTEGER NOT NULL,
    status         TEXT NOT NULL,
    error          TEXT,
    attributes     TEXT NOT NULL,
    events         TEXT NOT NULL
  );
  CREATE INDEX spans_by_trace ON spans (trace_id, turn_id);

  CREATE TABLE feedback (
    id             INTEGER PRIMARY KEY,
    at             INTEGER NOT NULL,
    choice         TEXT NOT NULL CHECK (choice IN ('first', 'second', 'none')),
    first_turn_id  TEXT NOT NULL,
    second_turn_id TEXT NOT NULL,
    question       TEXT NOT NULL,
    details        TEXT
  );

  -- Versions of the prompts of a bot, counted from 1 in the order in which they were first used.
  CREATE TABLE prompts (
    bot           TEXT NOT NULL,
    hash          TEXT NOT NULL,
    version       INTEGER NOT NULL,
    first_used_at INTEGER NOT NULL,
    PRIMARY KEY (bot, hash)
  ) WITHOUT ROWID;

  -- An index without the texts, which stand in the table of turns.
  CREATE VIRTUAL TABLE turn_search USING fts5 (
    question, answer, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
  );
`

const BUDGETS = `
  -- What sessions and days (UTC) have used, as budgets count it: requests that have ended.
  CREATE TABLE spending (
    scope    TEXT NOT NULL CHECK (scope IN ('session', 'day')),
    name     TEXT NOT NULL,
    tokens   INTEGER NOT NULL,
    cost_usd REAL NOT NULL,
    PRIMARY KEY (scope, name)
  ) WITHOUT ROWID;
  INSERT INTO spending
    SELECT 'session', session_id, sum(coalesce(input_tokens + output_tokens, total_tokens, 0)), sum(coalesce(cost_usd, 0))
    FROM turns GROUP BY session_id
    UNION ALL
    SELECT 'day', strftime('%Y-%m-%d', coalesce(ended_at, started_at) / 1000, 'unixepoch') AS day,
      sum(coalesce(input_tokens + output_tokens, total_tokens, 0)), sum(coalesce(cost_usd, 0))
    FROM turns GROUP BY day;

  -- Set aside for the request of an open turn; goes with its lease.
  CREATE TABLE reservations (
    turn           INTEGER PRIMARY KEY REFERENCES leases ON DELETE CASCADE,
    session_id     TEXT NOT NULL,
    day            TEXT NOT NULL,
    tokens         INTEGER NOT NULL,
    cost_usd       REAL NOT NULL,
    -- What counts as used when the owner of the turn dies.
    least_tokens   INTEGER NOT NULL,
    least_cost_usd REAL NOT NULL
  );
`

const COMPACTIONS = `
  -- What the conversation of a session was compacted to in a turn: later turns begin here.
  CREATE TABLE compactions (
    turn     INTEGER PRIMARY KEY REFERENCES turns ON DELETE CASCADE,
    -- Messages of the turn from this position on follow the compacted ones.
    position INTEGER NOT NULL
  );
  CREATE TABLE compacted_messages (
    turn       INTEGER NOT NULL REFERENCES compactions ON DELETE CASCADE,
    position   INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    message    INTEGER NOT NULL,
    PRIMARY KEY (turn, position)
  ) WITHOUT ROWID;
`

const ANSWERS = `
  -- Answers that may be given again to an equal request: the key is a hash of the request and of the model, and tells neither.
  CREATE TABLE answers (
    id    INTEGER PRIMARY KEY,
    key   TEXT NOT NULL UNIQUE,
    until INTEGER NOT NULL,
    -- Grows with each use; the least of them is the first to go.
    used  INTEGER NOT NULL,
    value TEXT NOT NULL
  );
  CREATE INDEX answers_by_use ON answers (used);
`

const HOURLY = `
  -- Of the tokens written to a cache those that are kept for an hour, which have a price of their own.
  ALTER TABLE turns ADD COLUMN cache_write_1h_tokens INTEGER;
`

/** Day of a turn, UTC: `2026-01-31`. */
const DAY = `strftime('%Y-%m-%d', started_at / 1000, 'unixepoch')`

/** Names of the sums. */
const SUMS = ['turns', 'unfinished', 'input_tokens', 'output_tokens', 'unknown_usage', 'cost_usd', 'unknown_cost']

/**
 * Returns the use of the turns that meet a condition, as rows of `use_sums`. A turn counts once, for the model that answered. Its tokens and
 * its cost are divided among the models that were called if its metrics list them; otherwise they count for the answering model.
 * Damaged metrics are ignored. Uses no common table expression, which triggers do not allow.
 */
export function sumsOf(condition: string): string {
  const turns = `
    (SELECT session_id, ${DAY} AS day, state, model, exactness, cost_usd, input_tokens,
      output_tokens, iif(json_valid(metrics) AND json_type(metrics, '$.models') = 'array' AND json_array_length(metrics, '$.models') > 0,
        metrics, NULL) AS divided
    FROM turns WHERE ${condition})`
  return `
    SELECT scope, iif(scope = 'day', coalesce(day, ''), session_id) AS name, iif(scope = 'day', model, '') AS model,
      ${SUMS.map((name) => `sum(${name})`).join(', ')}, count(*)
    FROM (
      SELECT session_id, day, model, 1 AS turns, state <> 'done' AS unfinished,
        iif(divided IS NULL, coalesce(input_tokens, 0), 0) AS input_tokens,
        iif(divided IS NULL, coalesce(output_tokens, 0), 0) AS output_tokens, exactness = 'unknown' AS unknown_usage,
        iif(divided IS NULL, coalesce(cost_usd, 0), 0) AS cost_usd, cost_usd IS NULL AS unknown_cost
      FROM ${turns}
      UNION ALL
      SELECT session_id, day, coalesce(json_extract(value, '$.model'), turn.model), 0, 0, coalesce(json_extract(value, '$.inputTokens'), 0),
        coalesce(json_extract(value, '$.outputTokens'), 0), 0, coalesce(json_extract(value, '$.costUsd'), 0), 0
      FROM ${turns} AS turn, json_each(divided, '$.models') AS used WHERE used.type = 'object'
    ) CROSS JOIN (SELECT 'day' AS scope UNION ALL SELECT 'session')
    GROUP BY 1, 2, 3`
}

function added(sign: '+' | '-'): string {
  const sums = [...SUMS, 'parts'].map((name) => `${name} = use_sums.${name} ${sign} excluded.${name}`)
  return `ON CONFLICT DO UPDATE SET ${sums.join(', ')}`
}

const UPKEEP = `
  -- Clean-up goes from the oldest turn on, and removes a message when nothing refers to it any more.
  CREATE INDEX turns_by_start ON turns (started_at);
  CREATE INDEX turns_not_done ON turns (state) WHERE state <> 'done';
  CREATE INDEX turn_messages_by_message ON turn_messages (message);
  CREATE INDEX compacted_messages_by_message ON compacted_messages (message);

  -- The message that holds the text of the answer, where it is so long that it is kept once; the column of the text is then empty.
  ALTER TABLE turns ADD COLUMN text_message INTEGER;

  ALTER TABLE sessions ADD COLUMN last_turn_at INTEGER;
  UPDATE sessions SET last_turn_at = (SELECT max(started_at) FROM turns WHERE turns.session_id = sessions.session_id);
  CREATE INDEX sessions_by_last_turn ON sessions (last_turn_at DESC, session_id);

  -- What turns that have ended used, by day (UTC) and model, and by session. Kept by triggers, so that no way to end or to remove a turn
  -- passes it by.
  CREATE TABLE use_sums (
    scope         TEXT NOT NULL CHECK (scope IN ('day', 'session')),
    name          TEXT NOT NULL,
    model         TEXT NOT NULL,
    turns         INTEGER NOT NULL,
    unfinished    INTEGER NOT NULL,
    input_tokens  NUMERIC NOT NULL,
    output_tokens NUMERIC NOT NULL,
    unknown_usage INTEGER NOT NULL,
    cost_usd      REAL NOT NULL,
    unknown_cost  INTEGER NOT NULL,
    -- Summands; a row without any goes.
    parts         INTEGER NOT NULL,
    PRIMARY KEY (scope, name, model)
  ) WITHOUT ROWID;

  INSERT INTO use_sums ${sumsOf("state <> 'open'")};

  CREATE TRIGGER turn_ended AFTER UPDATE OF state ON turns WHEN old.state = 'open' AND new.state <> 'open' BEGIN
    INSERT INTO use_sums ${sumsOf('id = new.id')} ${added('+')};
  END;
  CREATE TRIGGER turn_removed BEFORE DELETE ON turns WHEN old.state <> 'open' BEGIN
    INSERT INTO use_sums ${sumsOf('id = old.id')} ${added('-')};
    DELETE FROM use_sums WHERE parts <= 0 AND scope = 'session' AND name = old.session_id;
    DELETE FROM use_sums WHERE parts <= 0 AND scope = 'day' AND name = coalesce(${DAY.replace('started_at', 'old.started_at')}, '');
  END;

  -- When the journal was last looked after without being asked.
  CREATE TABLE upkeep (
    id        INTEGER PRIMARY KEY CHECK (id = 1),
    tended_at INTEGER NOT NULL
  );

  -- Clean-ups that removed something: each is told of here as well.
  CREATE TABLE cleanups (
    id       INTEGER PRIMARY KEY,
    at       INTEGER NOT NULL,
    asked    INTEGER NOT NULL,
    turns    INTEGER NOT NULL,
    sessions INTEGER NOT NULL,
    oldest   INTEGER,
    newest   INTEGER,
    bytes    INTEGER NOT NULL
  );
`

const PEOPLE = `
  -- A session belongs to one user, so that all of it can be deleted with the user.
  ALTER TABLE sessions ADD COLUMN user_id TEXT;
  CREATE INDEX sessions_by_user ON sessions (user_id) WHERE user_id IS NOT NULL;

  CREATE TABLE turn_tags (
    tag  TEXT NOT NULL,
    turn INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE,
    PRIMARY KEY (tag, turn)
  ) WITHOUT ROWID;
  CREATE INDEX turn_tags_by_turn ON turn_tags (turn);

  -- What users and tags have used on a day (UTC), as budgets count it. What is set aside for them stands in \`reservations\`.
  CREATE TABLE accounts (
    scope    TEXT NOT NULL CHECK (scope IN ('user', 'tag')),
    name     TEXT NOT NULL,
    day      TEXT NOT NULL,
    tokens   INTEGER NOT NULL,
    cost_usd REAL NOT NULL,
    PRIMARY KEY (scope, name, day)
  ) WITHOUT ROWID;

  -- Turns that ended while calls waited for a decision, which has not been made yet.
  CREATE TABLE waiting (
    turn       INTEGER PRIMARY KEY REFERENCES turns ON DELETE CASCADE,
    session_id TEXT NOT NULL
  );
  CREATE INDEX waiting_by_session ON waiting (session_id);

  -- Has a row where turns were written before deleted content was overwritten: the first deletion then rewrites the whole file.
  CREATE TABLE remnants (
    id INTEGER PRIMARY KEY CHECK (id = 1)
  );
  INSERT INTO remnants SELECT 1 FROM turns LIMIT 1;
`

const PROMPTS = `
  -- The column \`bot\` holds the name of the prompt: a system prompt that is a bare text has that of its bot.
  ALTER TABLE prompts ADD COLUMN template TEXT;
  UPDATE prompts SET bot = 'query' WHERE bot = '';

  -- Which versions a turn was made with.
  CREATE TABLE turn_prompts (
    turn INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE,
    name TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (turn, name, hash)
  ) WITHOUT ROWID;
  CREATE INDEX turn_prompts_by_prompt ON turn_prompts (name, hash);
  INSERT INTO turn_prompts
    SELECT id, coalesce(bot_name, bot_kind, 'query'), prompt_hash FROM turns WHERE prompt_hash IS NOT NULL;
`

const SESSIONS = `
  -- Where a session was begun, and what it goes on with: its model and tools, as JSON.
  ALTER TABLE sessions ADD COLUMN folder TEXT;
  ALTER TABLE sessions ADD COLUMN settings TEXT;
`

export const MIGRATIONS: readonly string[] = [FIRST, BUDGETS, COMPACTIONS, ANSWERS, HOURLY, UPKEEP, PEOPLE, PROMPTS, SESSIONS]
