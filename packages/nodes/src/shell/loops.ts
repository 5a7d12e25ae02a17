/** Rounds of a loop in a script, and what leaves them: `break` and `continue`. */

/** A loop that went round so often without waiting does nothing that anybody would see: from then on it only takes time. */
export const MOST_ROUNDS_AT_ONCE = 10_000

export interface Round {
  readonly exitCode: number
  /** The loop was left. */
  readonly isLast: boolean
}

/** Reaches as many loops out as it says, as far as there are. */
class LoopJump extends Error {
  readonly goesOn: boolean
  readonly loops: number

  constructor(goesOn: boolean, loops: number) {
    super(goesOn ? 'continue' : 'break')
    this.goesOn = goesOn
    this.loops = loops
  }
}

/** `break` and `continue` with as many loops around them; without any they do nothing. */
export function jump([name, loops = '1']: readonly string[], around: number): number {
  if (around === 0) return 0
  throw new LoopJump(name === 'continue', Math.max(1, Number(loops) || 1))
}

/** One round of a loop that has as many around it; `act` is told how many it has around itself. */
export async function roundOf(
  around: number,
  act: (loops: number) => Promise<number>,
): Promise<Round> {
  try {
    return { exitCode: await act(around + 1), isLast: false }
  } catch (error) {
    if (!(error instanceof LoopJump)) throw error
    if (error.loops > 1 && around > 0) throw new LoopJump(error.goesOn, error.loops - 1)
    return { exitCode: 0, isLast: !error.goesOn }
  }
}
