/** Tells what the terminal behind a stream can show. Pure: everything is told. */

type Environment = Readonly<Record<string, string | undefined>>

export interface StreamFacts {
  readonly isTTY?: boolean
  readonly columns?: number
}

/** Colours: on a terminal, unless `NO_COLOR` (https://no-color.org) or `TERM=dumb` says otherwise; `FORCE_COLOR` says otherwise too. */
export function showsColour(stream: StreamFacts, env: Environment): boolean {
  if (isSet(env['NO_COLOR'])) return false
  const forced = env['FORCE_COLOR']
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  return stream.isTTY === true && env['TERM'] !== 'dumb'
}

/** Columns to write in; terminals that do not know their width say 0. */
export function columnsOf(stream: StreamFacts): number {
  return stream.columns !== undefined && stream.columns > 0 ? stream.columns : 80
}

/** Whether escape sequences that move the cursor are understood. */
export function movesCursor(stream: StreamFacts, env: Environment): boolean {
  return stream.isTTY === true && env['TERM'] !== 'dumb'
}

const PROGRAMS_WITH_LINKS = /^(iTerm\.app|WezTerm|vscode|ghostty|Hyper|Tabby|rio|zed|WarpTerminal)$/
const TERMS_WITH_LINKS = /^(xterm-kitty|xterm-ghostty|alacritty|foot)/

/**
 * Whether links (OSC 8) are shown as such. Terminals that do not know them print nothing or rubbish, so only those that say who
 * they are get any. `FORCE_HYPERLINK=1` and `=0` decide.
 */
export function showsLinks(stream: StreamFacts, env: Environment): boolean {
  const forced = env['FORCE_HYPERLINK']
  if (isSet(forced)) return forced !== '0'
  if (!movesCursor(stream, env) || isSet(env['CI']) || isSet(env['NO_COLOR'])) return false
  return (
    PROGRAMS_WITH_LINKS.test(env['TERM_PROGRAM'] ?? '') ||
    isSet(env['WT_SESSION']) ||
    isSet(env['KONSOLE_VERSION']) ||
    Number(env['VTE_VERSION'] ?? 0) >= 5000 ||
    TERMS_WITH_LINKS.test(env['TERM'] ?? '')
  )
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== ''
}
