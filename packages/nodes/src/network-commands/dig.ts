/** `dig NAME [TYPE]`: what the cluster's DNS answers, record by record. */
import { reverseName } from '../shell/reverse-names.ts'
import type { NameRecord, RecordType } from '../shell/network.ts'
import type { Command } from '../shell/process.ts'

const TYPES: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME', 'SRV', 'PTR'])
/** dig.1, RETURN CODES. */
const EXIT = { usage: 1, noReply: 9 } as const
const TTL_SECONDS = 30
/** Options that change nothing here: how it is asked, and parts of the answer that there are none of. */
const IDLE =
  /^\+(?:no)?(?:tcp|vc|recurse|edns|cookie|comments|cmd|question|authority|additional|stats|multiline|all|time=\d+|tries=\d+|retry=\d+|timeout=\d+|ndots=\d+)$/

interface Query {
  readonly name: string
  readonly type: RecordType
  readonly searches: boolean
  readonly isShort: boolean
  /** The answer alone, without what is said around it. */
  readonly isBare: boolean
}

export const dig: Command = async ({ args, place, out, err }) => {
  const query = queryFrom(args)
  if (query === undefined) {
    place.onUnknown?.(`dig ${args.join(' ')}`)
    await err('dig: simulated containers know one name, its type, -x, +short, +search and +noall\n')
    return EXIT.usage
  }
  const { name, type, searches, isShort, isBare } = query
  const { kind, records } = await place.network!.records(name, type, searches)
  if (kind === 'elsewhere') {
    place.onUnknown?.(name)
    await out(';; no servers could be reached\n')
    return EXIT.noReply
  }
  if (isShort) {
    await out(records.map(({ data }) => `${data}\n`).join(''))
    return 0
  }
  const answer = records.map(line).join('')
  await out(isBare ? answer : full(query, answer, records.length))
  return 0
}

function queryFrom(args: readonly string[]): Query | undefined {
  const words: string[] = []
  let [searches, isShort, isBare] = [false, false, false]
  let reverse: string | undefined
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!
    if (arg === '-x') reverse = args[++at]
    else if (arg === '-t') words.push(args[++at] ?? '')
    else if (/^\+(?:no)?short$/.test(arg)) isShort = arg === '+short'
    else if (/^\+(?:no)?search$/.test(arg)) searches = arg === '+search'
    else if (arg === '+noall') isBare = true
    else if (/^\+(?:no)?answer$/.test(arg) || IDLE.test(arg) || arg.startsWith('@')) continue
    else if (/^[-+]/.test(arg)) return undefined
    else words.push(arg)
  }
  const types = words.filter((word) => TYPES.has(word.toUpperCase()))
  const names = words.filter((word) => !TYPES.has(word.toUpperCase()) && word !== 'IN')
  if (reverse !== undefined) {
    const reversed = reverseName(reverse)
    if (reversed === undefined || names.length > 0) return undefined
    names.push(reversed)
    types.push('PTR')
  }
  const [name, ...more] = names
  if (name === undefined || more.length > 0) return undefined
  const type = (types[0] ?? 'A').toUpperCase() as RecordType
  return { name, type, searches, isShort, isBare }
}

function line({ name, type, data }: NameRecord): string {
  return `${name}. ${TTL_SECONDS}\tIN\t${type}\t${data}\n`
}

function full({ name, type }: Query, answer: string, count: number): string {
  const status = count === 0 ? 'NXDOMAIN' : 'NOERROR'
  return [
    '',
    `; <<>> DiG <<>> ${name} ${type}`,
    ';; Got answer:',
    `;; ->>HEADER<<- opcode: QUERY, status: ${status}, id: 1`,
    `;; flags: qr aa rd; QUERY: 1, ANSWER: ${count}, AUTHORITY: 0, ADDITIONAL: 0`,
    '',
    ';; QUESTION SECTION:',
    `;${name}.\t\tIN\t${type}`,
    ...(count === 0 ? [] : ['', `;; ANSWER SECTION:\n${answer.trimEnd()}`]),
    '',
    '',
  ].join('\n')
}
