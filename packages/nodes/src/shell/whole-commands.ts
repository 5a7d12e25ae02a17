/** Commands out of lines that come one after the other. */
import { isDash } from './process.ts'
import type { Process } from './process.ts'
import type { Step } from './script.ts'
import { SyntaxProblem, Unfinished } from './syntax-problem.ts'
import { parseScript } from './syntax.ts'

/** What is longer is no command. */
export const MOST_COMMAND_CHARS = 1_048_576

/**
 * What the next line begins, with as many lines as it needs to come to its end; undefined: there are no more. A line has its
 * break, but for the last one. Throws SyntaxProblem.
 */
export async function nextSteps(
  nextLine: () => Promise<string | undefined>,
  task: Pick<Process, 'called' | 'place'>,
): Promise<readonly Step[] | undefined> {
  let script = ''
  let mayEnd: Unfinished['mayEnd'] = () => true
  for (;;) {
    const line = await nextLine()
    if (line === undefined) return script === '' ? undefined : parseScript(script, isDash(task))
    script += line
    if (script.length > MOST_COMMAND_CHARS) throw new SyntaxProblem('command is too long')
    if (!mayEnd(line)) continue
    try {
      return parseScript(script, isDash(task), false)
    } catch (error) {
      if (!(error instanceof Unfinished)) throw error
      ;({ mayEnd } = error)
    }
    await task.place.yieldIfLong()
  }
}
