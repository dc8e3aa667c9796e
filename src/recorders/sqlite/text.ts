/**
 * Free text in columns of its own. `node:sqlite` of Node 22 reads text only to its first NUL, so such columns are read as bytes.
 */

/** The column, in the list of a SELECT. */
export function textColumn(name: string): string {
  return `CAST(${name} AS BLOB) AS ${name}`
}

export function readText(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
