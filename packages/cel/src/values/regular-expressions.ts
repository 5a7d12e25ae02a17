/**
 * Regular expressions in the syntax and with the guarantee of RE2: time grows with the length of the text, whatever the
 * pattern. All ways to match are followed side by side (https://swtch.com/~rsc/regexp/regexp2.html), so no pattern of a user
 * can keep the process busy, as it can with an engine that tries one way after the other.
 */
import { parsePattern } from '../syntax/pattern-parser.ts'
export { patternProblem } from '../syntax/pattern-parser.ts'
import type { Assertion, CharacterTest, PatternNode } from '../syntax/pattern-parser.ts'

type Instruction =
  | { readonly kind: 'character'; readonly test: CharacterTest }
  | { readonly kind: 'assertion'; readonly assertion: Assertion }
  /** Goes on at `first`, or if that leads nowhere at `second`. */
  | { readonly kind: 'split'; first: number; second: number }
  | { readonly kind: 'jump'; to: number }
  | { readonly kind: 'match' }

/** All methods throw TooMuchToMatch. */
export interface RegularExpression {
  test(text: string): boolean
  /** The first match, as text; undefined: none. */
  find(text: string): string | undefined
  /** All matches that do not overlap, at most `limit`. */
  findAll(text: string, limit?: number): string[]
}

/** A large pattern and a large text: the time is bounded by their product, and that is too much. */
export class TooMuchToMatch extends Error {}

/** About a second. Megabytes of text and common patterns take a tenth of it. */
const MOST_STEPS = 30_000_000
/** What an element of a Uint16Array holds: little enough that tests come there. */
const LAST_GENERATION = 0xffff
/** Larger programs come from nested counted repetitions. */
const MAX_INSTRUCTIONS = 50_000
const CACHED = 1000
const compiled = new Map<string, RegularExpression | undefined>()

/** Undefined for a pattern that does not compile. */
export function compileRegularExpression(pattern: string): RegularExpression | undefined {
  if (compiled.has(pattern)) return compiled.get(pattern)
  if (compiled.size >= CACHED) compiled.clear()
  const node = parsePattern(pattern)
  const program = node === undefined ? undefined : assemble(node)
  const expression = program === undefined ? undefined : new Machine(program)
  compiled.set(pattern, expression)
  return expression
}

function assemble(root: PatternNode): Instruction[] | undefined {
  const program: Instruction[] = []
  const emit = (node: PatternNode): boolean => {
    if (program.length > MAX_INSTRUCTIONS) return false
    switch (node.kind) {
      case 'character':
      case 'assertion':
        program.push(node)
        return true
      case 'sequence':
        return node.parts.every(emit)
      case 'choice':
        return emitChoice(program, node.parts, emit)
      case 'repeat':
        return emitRepeat(program, node, emit)
    }
  }
  if (!emit(root)) return undefined
  program.push({ kind: 'match' })
  return program
}

type Emit = (node: PatternNode) => boolean

function emitChoice(program: Instruction[], parts: readonly PatternNode[], emit: Emit): boolean {
  const ends: { to: number }[] = []
  for (const [index, part] of parts.entries()) {
    const last = index === parts.length - 1
    const split = { kind: 'split' as const, first: program.length + 1, second: 0 }
    if (!last) program.push(split)
    if (!emit(part)) return false
    if (last) break
    const end = { kind: 'jump' as const, to: 0 }
    program.push(end)
    ends.push(end)
    split.second = program.length
  }
  for (const end of ends) end.to = program.length
  return true
}

function emitRepeat(
  program: Instruction[],
  { part, min, max, greedy }: PatternNode & { kind: 'repeat' },
  emit: Emit,
): boolean {
  const endless = max === Infinity
  // Of endless repetitions the last copy is the one that is repeated.
  const copies = endless ? Math.max(min - 1, 0) : min
  for (let count = 0; count < copies; count++) if (!emit(part)) return false
  const branch = (): { enter(): void; leave(): void } => {
    const split = { kind: 'split' as const, first: 0, second: 0 }
    program.push(split)
    const way = greedy ? (['first', 'second'] as const) : (['second', 'first'] as const)
    return {
      enter: () => (split[way[0]] = program.length),
      leave: () => (split[way[1]] = program.length),
    }
  }
  if (endless) {
    const option = min === 0 ? branch() : undefined
    option?.enter()
    const start = program.length
    if (!emit(part)) return false
    const loop = { kind: 'split' as const, first: start, second: program.length + 1 }
    if (!greedy) [loop.first, loop.second] = [loop.second, loop.first]
    program.push(loop)
    option?.leave()
    return true
  }
  const exits: (() => void)[] = []
  for (let count = min; count < max; count++) {
    const option = branch()
    option.enter()
    exits.push(option.leave)
    if (!emit(part)) return false
  }
  for (const leave of exits) leave()
  return true
}

interface Match {
  readonly start: number
  readonly end: number
}

class Machine implements RegularExpression {
  readonly #program: readonly Instruction[]
  /** When each instruction was last reached: once per position is enough. */
  readonly #seen: Uint16Array
  #generation = 0
  #steps = 0

  constructor(program: readonly Instruction[]) {
    this.#program = program
    this.#seen = new Uint16Array(program.length)
  }

  test(text: string): boolean {
    this.#steps = 0
    return this.#run([...text].map(codeOf), 0, true) !== undefined
  }

  find(text: string): string | undefined {
    this.#steps = 0
    const characters = [...text]
    const match = this.#run(characters.map(codeOf), 0, false)
    return match && characters.slice(match.start, match.end).join('')
  }

  findAll(text: string, limit = Infinity): string[] {
    this.#steps = 0
    const characters = [...text]
    const codes = characters.map(codeOf)
    const found: string[] = []
    let from = 0
    let previousEnd = -1
    while (from <= codes.length && found.length < limit) {
      const match = this.#run(codes, from, false)
      if (match === undefined) break
      // An empty match right behind another match does not count.
      if (match.end > match.start || match.start !== previousEnd)
        found.push(characters.slice(match.start, match.end).join(''))
      previousEnd = match.end
      from = match.end > match.start ? match.end : match.end + 1
    }
    return found
  }

  /** The leftmost match; of several there the one that an engine trying ways in order would find. */
  #run(codes: readonly number[], from: number, any: boolean): Match | undefined {
    let threads: Thread[] = []
    let best: Match | undefined
    for (let position = from; position <= codes.length; position++) {
      this.#nextGeneration()
      const current: Thread[] = []
      for (const thread of threads) this.#follow(thread, position, codes, current)
      if (best === undefined) this.#follow({ at: 0, start: position }, position, codes, current)
      if (this.#steps > MOST_STEPS) throw new TooMuchToMatch()
      const next: Thread[] = []
      for (const { at, start } of current) {
        const instruction = this.#program[at]!
        if (instruction.kind === 'match') {
          best = { start, end: position }
          if (any) return best
          // Ways that come later were only to be taken if this one failed.
          break
        }
        if (
          instruction.kind === 'character' &&
          position < codes.length &&
          instruction.test(codes[position]!)
        )
          next.push({ at: at + 1, start })
      }
      threads = next
      if (threads.length === 0 && best !== undefined) return best
    }
    return best
  }

  /** Patterns are kept and match for as long as the process lives, so no counter is large enough: it begins anew. */
  #nextGeneration(): void {
    if (this.#generation === LAST_GENERATION) {
      this.#seen.fill(0)
      this.#generation = 0
    }
    this.#generation++
  }

  /** Adds the instructions that wait for a character, in the order of preference. */
  #follow(thread: Thread, position: number, codes: readonly number[], into: Thread[]): void {
    const { start } = thread
    const stack = [thread.at]
    while (stack.length > 0) {
      const at = stack.pop()!
      this.#steps++
      if (this.#seen[at] === this.#generation) continue
      this.#seen[at] = this.#generation
      const instruction = this.#program[at]!
      switch (instruction.kind) {
        case 'jump':
          stack.push(instruction.to)
          break
        case 'split':
          stack.push(instruction.second, instruction.first)
          break
        case 'assertion':
          if (holds(instruction.assertion, position, codes)) stack.push(at + 1)
          break
        default:
          into.push({ at, start })
      }
    }
  }
}

interface Thread {
  readonly at: number
  readonly start: number
}

function codeOf(character: string): number {
  return character.codePointAt(0)!
}

function holds(assertion: Assertion, position: number, codes: readonly number[]): boolean {
  switch (assertion) {
    case 'text-begin':
      return position === 0
    case 'text-end':
      return position === codes.length
    case 'line-begin':
      return position === 0 || codes[position - 1] === 10
    case 'line-end':
      return position === codes.length || codes[position] === 10
    case 'word-boundary':
      return isWord(codes[position - 1]) !== isWord(codes[position])
    case 'no-word-boundary':
      return isWord(codes[position - 1]) === isWord(codes[position])
  }
}

function isWord(code: number | undefined): boolean {
  if (code === undefined) return false
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x5f
  )
}
