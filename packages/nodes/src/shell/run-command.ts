/** Runs one command by its name and arguments. */
import { FileError } from '../files/file-error.ts'
import { noOptions } from './options.ts'
import { Exit, UnknownCommand } from './process.ts'
import type { Process, Streams, Surroundings } from './process.ts'

/** One command given word by word, as `kubectl exec` does. Throws UnknownCommand. */
export async function runCommand(
  words: readonly string[],
  streams: Streams,
  place: Surroundings,
  environment: ReadonlyMap<string, string>,
): Promise<number> {
  const variables = new Map(environment)
  const task = {
    ...streams,
    place,
    environment: variables,
    variables,
    folder: { path: '' },
    options: noOptions(),
  }
  try {
    return await run(words, task)
  } catch (error) {
    if (error instanceof Exit) return error.exitCode
    throw error
  }
}

/** Throws UnknownCommand. */
export async function run(words: readonly string[], task: Omit<Process, 'args'>): Promise<number> {
  const [name = '', ...args] = words
  const command = task.place.commands.get(name.replace(/^(?:\/usr)?\/s?bin\//, ''))
  if (command === undefined) throw new UnknownCommand(name)
  try {
    return await command({ ...task, args, called: name })
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    await task.err(`${name}: ${error.message}\n`)
    return 1
  }
}
