/** Lists of indexes as jobs write them: `1,3-5`, ascending, below the number of completions. */

type Interval = readonly [number, number]
interface Problem {
  readonly problem: string
}

function parseInterval(text: string, completions: number): Interval | Problem {
  const limits = text.split('-')
  if (limits.length > 2)
    return {
      problem: `the fragment ${JSON.stringify(text)} violates the requirement that an index interval can have at most two parts separated by '-'`,
    }
  const values: number[] = []
  for (const limit of limits) {
    if (!/^[+-]?\d+$/.test(limit))
      return { problem: `cannot convert string to integer for index: ${JSON.stringify(limit)}` }
    if (Number(limit) >= completions)
      return { problem: `too large index: ${JSON.stringify(limit)}` }
    values.push(Number(limit))
  }
  const [first, last = first] = values as [number, number?]
  if (values.length === 2 && first >= last)
    return { problem: `non-increasing order, previous: ${first}, current: ${last}` }
  return [first, last]
}

const isInterval = (parsed: Interval | Problem): parsed is Interval => Array.isArray(parsed)

/** Those that can be read. */
export function indexIntervals(text: string, completions: number): Interval[] {
  if (text === '') return []
  return text
    .split(',')
    .map((part) => parseInterval(part, completions))
    .filter(isInterval)
}

/** How many indexes the list names. */
export function countIndexes(text: string, completions: number): number | Problem {
  if (text === '') return 0
  let previous = -1
  let total = 0
  for (const part of text.split(',')) {
    const interval = parseInterval(part, completions)
    if (!isInterval(interval)) return interval
    const [first, last] = interval
    if (total > 0 && previous >= first)
      return { problem: `non-increasing order, previous: ${previous}, current: ${first}` }
    total += last - first + 1
    previous = last
  }
  return total
}
