/** `sh` without a script: lines from its input. With a terminal it echoes what is typed, as a terminal's other end must. */
import { Exit, INTERRUPTED_EXIT_CODE, Interrupted } from '../shell/process.ts'
import { Definitions } from '../shell/definitions.ts'
import { runScript } from '../shell/shell.ts'
import { inputOf } from '../shell/input.ts'
import type { Process } from '../shell/process.ts'

/** Scripts come line by line; what is longer is no line. */
const MOST_LINE_CHARS = 1_048_576
const CTRL_C = 3
const CTRL_D = 4
const BACKSPACES = new Set([8, 127])

export async function interactiveShell(task: Process): Promise<number> {
  const terminal = task.environment.get('TERM') !== undefined
  const say = (text: string): Promise<void> => (terminal ? task.out(text) : Promise.resolve())
  // A terminal needs its carriage returns.
  const out = (text: string | Uint8Array): Promise<void> => task.out(withReturns(text))
  const inner: Process = terminal ? { ...task, out, err: (text) => out(text) } : task
  const prompt = (): string =>
    `${task.folder.path || '/'} ${task.place.user.uid === 0 ? '#' : '$'} `
  const defined = new Definitions()
  let exitCode = 0
  let line = ''
  const run = async (script: string): Promise<boolean> => {
    try {
      const own = { ...inner, stdin: inputOf(new Uint8Array(0)) }
      exitCode = await runScript(script, own, exitCode, defined)
      return true
    } catch (error) {
      if (error instanceof Interrupted) {
        exitCode = INTERRUPTED_EXIT_CODE
        await say('^C\r\n')
        return true
      }
      if (!(error instanceof Exit)) throw error
      exitCode = error.exitCode
      return false
    }
  }
  await say(prompt())
  for await (const chunk of task.stdin) {
    for (const char of Buffer.from(chunk).toString()) {
      const code = char.codePointAt(0)!
      if (terminal && code === CTRL_D && line === '') return exitCode
      if (terminal && code === CTRL_C) {
        await say('^C\r\n' + prompt())
        line = ''
      } else if (terminal && BACKSPACES.has(code)) {
        if (line !== '') await say('\b \b')
        line = line.slice(0, -1)
      } else if (char === '\n' || (terminal && char === '\r')) {
        await say('\r\n')
        const script = line
        line = ''
        if (!(await run(script))) return exitCode
        await say(prompt())
      } else {
        if (line.length >= MOST_LINE_CHARS) {
          await task.err('sh: line is too long\n')
          return 2
        }
        line += char
        if (terminal) await say(char)
      }
    }
  }
  if (line !== '') await run(line)
  return exitCode
}

function withReturns(text: string | Uint8Array): string {
  const plain = typeof text === 'string' ? text : Buffer.from(text).toString()
  return plain.replaceAll(/\r?\n/g, '\r\n')
}
