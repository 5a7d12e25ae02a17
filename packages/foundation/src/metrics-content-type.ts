import { parseAccept } from './accept.ts'

/** How names of metrics may be written that are no names of old. */
const ESCAPINGS: ReadonlySet<string | undefined> = new Set([
  'allow-utf-8',
  'underscores',
  'dots',
  'values',
])
const VERSIONS: ReadonlySet<string | undefined> = new Set([undefined, '0.0.4', '1.0.0'])

/**
 * The content type of a page of metrics, which is always the text of Prometheus. It tells the escaping that was asked for, though there
 * is no name that would need one: the last one known, up to the first clause of Accept that asks for this form.
 */
export function metricsContentType(accept: string | undefined): string {
  let escaping = 'underscores'
  for (const { type, parameters } of parseAccept(accept ?? '')) {
    const asked = parameters['escaping']
    if (asked !== undefined && ESCAPINGS.has(asked)) escaping = asked
    if (type === 'text/plain' && VERSIONS.has(parameters['version'])) break
  }
  return `text/plain; version=0.0.4; charset=utf-8; escaping=${escaping}`
}
