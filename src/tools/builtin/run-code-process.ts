/**
 * The programs that run code of a model. JavaScript runs in an empty context in a separate process: no imports, no `eval`, and by Node's
 * permission model no files, processes or threads. They read a JSON object `{ code, marker }` and end by writing `marker` and a JSON object.
 */

/** The outcome of the code. */
export interface CodeReport {
  /** Console output. */
  readonly logs?: string
  /** The value of the code, as JSON. */
  readonly value?: string
  readonly error?: string
}

/** Megabytes of writable memory that Node reserves at start. */
const NODE_RESERVES = 600

/** Evaluated in the context before the code. Returns the functions that run it and report; they use objects of the context only. */
const PRELUDE = `(() => {
  'use strict'
  const { stringify } = JSON
  const lines = []
  const ended = {}
  let room = 200000
  const shown = (value) => {
    if (typeof value === 'string') return value
    try { return stringify(value) ?? String(value) } catch { return String(value) }
  }
  const log = (...values) => {
    const line = values.map(shown).join(' ')
    if (room > 0) lines.push(line.slice(0, room))
    room -= line.length + 1
  }
  globalThis.console = { log, info: log, warn: log, error: log, debug: log, table: log }
  const failed = (error) => {
    const at = /code\\.js:(\\d+)/.exec(String(error?.stack ?? ''))?.[1]
    ended.error = String(error?.name ?? 'Error') + ': ' + String(error?.message ?? error) + (at === undefined ? '' : ' (line ' + at + ')')
  }
  const succeeded = (value) => {
    try {
      const json = stringify(value)
      if (json !== undefined) ended.value = json
    } catch (error) { failed(error) }
    ended.done = true
  }
  return {
    run(work) { try { work().then(succeeded, failed) } catch (error) { failed(error) } },
    report() {
      if (!ended.done && ended.error === undefined) ended.error = 'The code waits for something that never comes.'
      return stringify({ logs: lines.join('\\n'), value: ended.value, error: ended.error })
    },
  }
})()`

const JAVASCRIPT = `'use strict'
const vm = require('node:vm')
const { code, marker } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'))
const write = process.stdout.write.bind(process.stdout)
for (const name of ['binding', '_linkedBinding', 'getBuiltinModule', 'dlopen', 'mainModule']) Object.defineProperty(process, name, { value: undefined })
for (const name of ['fetch', 'WebSocket', 'EventSource', 'require', 'module']) delete globalThis[name]
process.on('unhandledRejection', () => {})
const context = vm.createContext(vm.constants.DONT_CONTEXTIFY, { codeGeneration: { strings: false, wasm: false } })
const { run, report } = vm.runInContext(${JSON.stringify(PRELUDE)}, context)
let broken
try {
  run(vm.runInContext('(async () => {\\n' + code + '\\n})', context, { filename: 'code.js', lineOffset: -1 }))
} catch (error) {
  broken = String(error.name) + ': ' + String(error.message)
}
process.once('beforeExit', () => {
  const text = broken === undefined ? report() : JSON.stringify({ error: broken })
  write(typeof text === 'string' ? '\\n' + marker + text : '', () => process.exit())
})
`

const PYTHON = `import json, sys, traceback
job = json.loads(sys.stdin.read())
names = {"__name__": "__main__"}
report = {}
try:
    exec(compile(job["code"], "code.py", "exec"), names)
    if "result" in names: report["value"] = json.dumps(names["result"], allow_nan=False)
except SystemExit as end: report["error"] = "SystemExit: " + str(end)
except BaseException: report["error"] = "".join(traceback.format_exc().split("\\n    exec(", 1)[-1].partition("\\n")[2]).strip() or traceback.format_exc(limit=0).strip()
sys.stdout.flush()
sys.stdout.write("\\n" + job["marker"] + json.dumps(report))
`

/** Returns the words of the command line. @param memory limit in megabytes. */
export function codeProgram(language: 'javascript' | 'python', memory: number): readonly string[] {
  const words =
    language === 'python'
      ? ['python3', '-I', '-c', PYTHON]
      : [
          process.execPath,
          '--permission',
          // A stack overflow can leak an outer error, and with it outer prototypes: freezes them.
          '--frozen-intrinsics',
          '--disallow-code-generation-from-strings',
          '--no-warnings',
          `--max-old-space-size=${memory}`,
          '-e',
          JAVASCRIPT,
        ]
  if (process.platform === 'win32') return words
  // The heap has a separate limit; buffers are limited only by the memory of the process.
  const kilobytes = (memory + (language === 'python' ? 100 : NODE_RESERVES)) * 1024
  return ['/bin/sh', '-c', `ulimit -d ${kilobytes} 2>/dev/null; ulimit -c 0; exec "$@"`, 'sh', ...words]
}
