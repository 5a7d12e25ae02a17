/** `$(( ))`: whole numbers of 64 bits, as sh reckons with them: what is larger begins anew from the other end. */
import { SyntaxProblem } from './syntax-problem.ts'

type Operation = (left: bigint, right: bigint) => bigint

const truth = (holds: boolean): bigint => (holds ? 1n : 0n)

/** By how tightly they bind, the loosest first. */
const LEVELS: readonly Readonly<Record<string, Operation>>[] = [
  { '||': (a, b) => truth(a !== 0n || b !== 0n) },
  { '&&': (a, b) => truth(a !== 0n && b !== 0n) },
  { '==': (a, b) => truth(a === b), '!=': (a, b) => truth(a !== b) },
  {
    '<=': (a, b) => truth(a <= b),
    '>=': (a, b) => truth(a >= b),
    '<': (a, b) => truth(a < b),
    '>': (a, b) => truth(a > b),
  },
  { '+': (a, b) => a + b, '-': (a, b) => a - b },
  { '*': (a, b) => a * b, '/': (a, b) => divided(a, b), '%': (a, b) => a - divided(a, b) * b },
]

const BITS = 64

const wrapped = (value: bigint): bigint => BigInt.asIntN(BITS, value)

/** Of decimal digits; digits before the last 64 are multiples of 2^64. */
function numberOf(digits: string): bigint {
  const [, sign, all = ''] = /^(-?)(\d+)$/.exec(digits)!
  const value = wrapped(BigInt(all.slice(-BITS)))
  return sign === '-' ? wrapped(-value) : value
}

function divided(left: bigint, right: bigint): bigint {
  if (right === 0n) throw new SyntaxProblem('arithmetic syntax error: divide by zero')
  return left / right
}

/** Variables are numbers, 0 without a value. Throws SyntaxProblem. */
export function sumOf(text: string, variables: ReadonlyMap<string, string>): string {
  const plain = text.replaceAll(/\$\{?([A-Za-z_]\w*)\}?/g, '$1')
  const tokens = plain.match(/\d+|[A-Za-z_]\w*|\|\||&&|[=!<>]=|[^\s\w]/g) ?? []
  let at = 0
  const wrong = (): SyntaxProblem =>
    new SyntaxProblem(`arithmetic syntax error: "${text}" is not known to simulated containers`)

  const single = (): bigint => {
    const token = tokens[at++] ?? ''
    if (token === '(') {
      const value = level(0)
      if (tokens[at++] !== ')') throw wrong()
      return value
    }
    if (token === '-') return wrapped(-single())
    if (token === '+') return single()
    if (token === '!') return truth(single() === 0n)
    const number = /^[A-Za-z_]/.test(token) ? variables.get(token) || '0' : token
    if (!/^-?\d+$/.test(number)) throw wrong()
    return numberOf(number)
  }
  const level = (index: number): bigint => {
    const operations = LEVELS[index]
    if (operations === undefined) return single()
    let value = level(index + 1)
    for (
      let act = operations[tokens[at] ?? ''];
      act !== undefined;
      act = operations[tokens[at] ?? '']
    ) {
      at++
      value = wrapped(act(value, level(index + 1)))
    }
    return value
  }
  const value = level(0)
  if (at < tokens.length) throw wrong()
  return String(value)
}
