import type { Recorder } from '../../core/recorder.ts'
import type { OtlpExporter } from './exporter.ts'

/** Reads `name=value,name=value`, percent-encoded, as the environment of OpenTelemetry has it. */
export function headersOf(text: string): Record<string, string> {
  const pairs = text.split(',').flatMap((pair) => {
    const [name = '', ...rest] = pair.split('=')
    return name.trim() === '' ? [] : [[name.trim(), decoded(rest.join('=').trim())] as const]
  })
  return Object.fromEntries(pairs)
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

/** The same recorder; its spans go to the collector too. */
export function exportSpans<R extends Recorder>(recorder: R, exporter: OtlpExporter): R {
  return new Proxy(recorder, {
    get(target, name) {
      if (name === 'span') {
        return (span: Parameters<Recorder['span']>[0]) => {
          exporter.add(span)
          return target.span(span)
        }
      }
      if (name === 'close') return () => exporter.flush().then(() => target.close())
      const member: unknown = Reflect.get(target, name, target)
      // Private fields need the object itself as `this`.
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
}
