/** What sets variables of the shell around it: `export`, `read` and `unset`. */
import { FileError } from '../files/file-error.ts'
import type { Command } from '../shell/process.ts'

const NAME = /^[A-Za-z_]\w*$/
/** What is longer is no line. */
const MOST_LINE_BYTES = 1_048_576

export const exportVariables: Command = ({ args, variables }) => {
  for (const arg of args) {
    const [name = '', ...value] = arg.split('=')
    if (value.length > 0) variables.set(name, value.join('='))
  }
  return 0
}

export const unset: Command = ({ args, variables }) => {
  for (const name of args) variables.delete(name)
  return 0
}

/** `read [-r] [-p PROMPT] [NAME...]`: a line of the input, word by word; the last name gets what is left. 1 at the input's end. */
export const read: Command = async (task) => {
  const names: string[] = []
  let isRaw = false
  for (let at = 0; at < task.args.length; at++) {
    const arg = task.args[at]!
    if (arg === '-r') isRaw = true
    else if (arg === '-p') await task.err(task.args[++at] ?? '')
    else if (NAME.test(arg)) names.push(arg)
    else {
      task.place.onUnknown?.(`read ${arg}`)
      await task.err(`sh: read: ${arg}: not known to simulated containers\n`)
      return 2
    }
  }
  const tooLong = (): Error => new FileError('line is too long')
  const { text, isWhole } = await task.stdin.line(MOST_LINE_BYTES, tooLong)
  let rest = (isRaw ? text : text.replaceAll(/\\(.)/gs, '$1')).trim()
  const last = names.pop() ?? 'REPLY'
  for (const name of names) {
    const [word = ''] = rest.split(/\s+/, 1)
    task.variables.set(name, word)
    rest = rest.slice(word.length).trimStart()
  }
  task.variables.set(last, rest)
  return isWhole ? 0 : 1
}
