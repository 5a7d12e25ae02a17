/** Whether an answer is sent compressed, as Go's page of metrics reads the Accept-Encoding header. Pure. */

interface Coding {
  readonly name: string
  readonly weight: number
}

/** gzip has to weigh more than to send it as it is, and `*` stands for both. `values` are those of the repeated header. */
export function acceptsGzip(values: readonly string[]): boolean {
  const codings = values.flatMap(codingsOf)
  const weightOf = (wanted: string): number =>
    Math.max(-1, ...codings.filter(({ name }) => name === wanted || name === '*').map(byWeight))
  return weightOf('gzip') > Math.max(0, weightOf('identity'))
}

function byWeight({ weight }: Coding): number {
  return weight
}

const CODING = /^[ \t]*([^\s,;="]+)[ \t]*(?:;[ \t]*q=([01](?:\.\d*)?))?[ \t]*(.?)/s

/** Read up to the first that is not well-formed. What stands behind one without a comma ends the list; that coding still counts. */
function codingsOf(value: string): Coding[] {
  const codings: Coding[] = []
  for (let rest = value; ;) {
    const read = CODING.exec(rest)
    const [whole = '', name = '', weight = '1', next = ''] = read ?? []
    if (name === '' || next === ';') return codings
    codings.push({ name, weight: Number(weight) })
    if (next !== ',') return codings
    rest = rest.slice(whole.length)
  }
}
