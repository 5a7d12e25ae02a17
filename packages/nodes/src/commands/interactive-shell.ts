/** `sh` without a script: commands from its input, each as soon as it is whole. With a terminal it prompts, and goes on after mistakes. */
import { FileError } from '../files/file-error.ts'
import type { Definitions } from '../shell/definitions.ts'
import { INTERRUPTED_EXIT_CODE, Interrupted } from '../shell/process.ts'
import type { Process } from '../shell/process.ts'
import { orProblem } from '../shell/ends.ts'
import { runParsed, toTheEnd } from '../shell/shell.ts'
import { MOST_COMMAND_CHARS, nextSteps } from '../shell/whole-commands.ts'
import { TypedInput, TypedLines } from './typed-lines.ts'

export function shellOfInput(task: Process, parameters: readonly string[]): Promise<number> {
  const isTerminal = task.environment.get('TERM') !== undefined
  return isTerminal ? interactive(task, parameters) : fromInput(task, parameters)
}

/** What a command does not read is the next one: nothing is read ahead. */
function fromInput(task: Process, parameters: readonly string[]): Promise<number> {
  const { stdin } = task
  const tooLong = (): Error => new FileError('line is too long')
  const nextLine = async (): Promise<string | undefined> => {
    const { text, isWhole } = await stdin.line(MOST_COMMAND_CHARS, tooLong)
    if (isWhole) return `${text}\n`
    return text === '' ? undefined : text
  }
  return toTheEnd(task, parameters, (defined) =>
    orProblem(task, async () => {
      let exitCode = 0
      for (;;) {
        const steps = await nextSteps(nextLine, task)
        if (steps === undefined) return exitCode
        exitCode = await runParsed(steps, task, exitCode, defined)
      }
    }),
  )
}

function interactive(task: Process, parameters: readonly string[]): Promise<number> {
  // A terminal needs its carriage returns.
  const out = (text: string | Uint8Array): Promise<void> => task.out(withReturns(text))
  const lines =
    task.stdin instanceof TypedInput ? task.stdin.lines : new TypedLines(task.stdin, task.out)
  const inner: Process = { ...task, out, err: (text) => out(text) }
  return toTheEnd(inner, parameters, (defined) => prompted(inner, lines, defined))
}

async function prompted(task: Process, lines: TypedLines, defined: Definitions): Promise<number> {
  const { folder, place } = task
  let exitCode = 0
  for (;;) {
    let prompt = `${folder.path || '/'} ${place.user.uid === 0 ? '#' : '$'} `
    const nextLine = async (): Promise<string | undefined> => {
      await task.out(prompt)
      prompt = '> '
      return lines.next()
    }
    const interrupted = async (code: number): Promise<number> => {
      await task.out('^C\n')
      return code
    }
    const steps = await orProblem(task, () => nextSteps(nextLine, task)).catch((error: unknown) => {
      if (error instanceof Interrupted) return interrupted(exitCode)
      throw error
    })
    if (steps === undefined) return exitCode
    exitCode =
      typeof steps === 'number'
        ? steps
        : await orProblem(task, () =>
            runParsed(steps, { ...task, stdin: new TypedInput(lines) }, exitCode, defined),
          ).catch((error: unknown) => {
            if (error instanceof Interrupted) return interrupted(INTERRUPTED_EXIT_CODE)
            throw error
          })
  }
}

function withReturns(text: string | Uint8Array): string {
  const plain = typeof text === 'string' ? text : Buffer.from(text).toString()
  return plain.replaceAll(/\r?\n/g, '\r\n')
}
