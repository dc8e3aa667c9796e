/** Recognises lines of source code that begin a definition, in common languages, and returns its name. */

const MODIFIERS =
  'export|default|public|private|protected|internal|static|final|abstract|override|async|inline|const|unsafe|extern|virtual|declare|open|sealed|partial|readonly|pub(?:\\([^)]*\\))?'
const KEYWORDS =
  'class|def|function\\*?|fn|func|fun|interface|struct|enum|trait|impl|type|module|namespace|object|record|protocol|sub|macro_rules!'
const DEFINITION = new RegExp(
  String.raw`^(?:(?:${MODIFIERS})\s+)*(?:${KEYWORDS})\s+(?:<[^>]*>\s*)?([\p{L}_$][\p{L}\p{N}_$.:]*)`,
  'u',
)
/** `func (r *Reader) Read(`: the receiver precedes the name. */
const METHOD_OF_GO = /^func\s+\([^)]*\)\s*([\p{L}_][\p{L}\p{N}_]*)/u
const FUNCTION_VALUE =
  /^(?:export\s+)?(?:const|let|var|val)\s+([\w$]+)\s*(?::[^=]+)?=\s*(?:async\s*)?(?:\(|function\b|[\w$]+\s*=>)/
const METHOD =
  /^(?:(?:public|private|protected|static|async|get|set|override|final|virtual)\s+)*(?!(?:if|for|while|switch|catch|return|else|do|try|with|match|loop)\b)(?:[\w$<>[\],.*&?]+\s+)*[*&]?(#?[\w$~]+)\s*(?:<[^>]*>)?\([^;]*\)\s*(?::[^{;]*)?(?:const\s*)?\{\s*$/
const LONGEST_LINE = 300

/** Returns the name that a line defines: `Reader` for `export class Reader {`; `undefined` without a definition. The line has no indentation. */
export function definedName(line: string): string | undefined {
  const head = line.slice(0, LONGEST_LINE)
  return (METHOD_OF_GO.exec(head) ?? DEFINITION.exec(head) ?? FUNCTION_VALUE.exec(head) ?? METHOD.exec(head))?.[1]
}
