/** How scripts end other than with their last command. */
import { Return } from './definitions.ts'
import { Exit, nameOf } from './process.ts'
import type { Process } from './process.ts'
import { SyntaxProblem } from './syntax-problem.ts'

const SYNTAX_EXIT_CODE = 2

/** Also when `exit` or `return` ends it. */
export async function exitCodeOf(act: () => Promise<number>): Promise<number> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof Exit || error instanceof Return) return error.exitCode
    throw error
  }
}

/** Says what is wrong with a script, and answers the exit code of that. */
export async function orProblem<T>(
  task: Pick<Process, 'err' | 'place' | 'shell'>,
  act: () => Promise<T>,
): Promise<T | typeof SYNTAX_EXIT_CODE> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error
    task.place.onUnknown?.(error.message)
    await task.err(`${nameOf(task)}: ${error.message}\n`)
    return SYNTAX_EXIT_CODE
  }
}
