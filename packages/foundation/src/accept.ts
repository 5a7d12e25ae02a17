/** The Accept header, as Go's servers read it. Pure. */

export interface AcceptClause {
  /** `type/subtype`, as it was sent: case matters. */
  readonly type: string
  readonly parameters: Readonly<Record<string, string>>
  readonly quality: number
}

const parsedAccepts = new Map<string, readonly AcceptClause[]>()

/** Clauses in the order in which they are tried. */
export function parseAccept(accept: string): readonly AcceptClause[] {
  const known = parsedAccepts.get(accept)
  if (known !== undefined) return known
  const clauses: AcceptClause[] = []
  for (const clause of accept.split(',').map(parseClause))
    if (clause !== undefined) insert(clauses, clause)
  // Clients send the same few headers again and again; strangers may not fill the memory.
  if (parsedAccepts.size < 256 && accept.length < 1024) parsedAccepts.set(accept, clauses)
  return clauses
}

/** Before all at the end that it goes before: a wildcard may stand behind what is named with a lower quality, if it came first. */
function insert(clauses: AcceptClause[], clause: AcceptClause): void {
  let at = clauses.length
  while (at > 0 && goesBefore(clause, clauses[at - 1]!)) at--
  clauses.splice(at, 0, clause)
}

/** Of higher quality, or named where the other is a wildcard, whatever their qualities. */
function goesBefore({ type, quality }: AcceptClause, other: AcceptClause): boolean {
  if (quality > other.quality) return true
  if (!type.startsWith('*/') && other.type.startsWith('*/')) return true
  return !type.endsWith('/*') && other.type.endsWith('/*')
}

/** A lone `*` is every type. A parameter with no value or with two is skipped, a quality that is no number is 0; quotes belong to a value. */
function parseClause(text: string): AcceptClause | undefined {
  const [range = '', ...rest] = text.split(';')
  const names = range.split('/').map((name) => name.trim())
  if (names.length === 1 && names[0] === '*') names.push('*')
  if (names.length !== 2) return undefined
  const parameters: Record<string, string> = Object.create(null)
  let quality = 1
  for (const part of rest) {
    const [name = '', value = '', second] = part.split('=')
    if (value === '' || second !== undefined) continue
    if (name.trim() === 'q') quality = qualityOf(value)
    else parameters[name.trim()] = value.trim()
  }
  return { type: names.join('/'), parameters, quality }
}

function qualityOf(text: string): number {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : 0
}
