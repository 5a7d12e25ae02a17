/** Runs one command by its name and arguments. */
import { FileError } from '../files/file-error.ts'
import { absolute } from '../files/file-tree.ts'
import { noOptions } from './options.ts'
import { Exit, UnknownCommand, nameOf } from './process.ts'
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
    folder: { path: place.folder ?? '' },
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
  try {
    if (command === undefined) return await runFile(name, args, task)
    return await command({ ...task, args, called: name })
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    await task.err(`${name}: ${error.message}\n`)
    return 1
  }
}

const NOT_EXECUTABLE_EXIT_CODE = 126
const ANY_EXECUTE = 0o111
/** `#!/bin/sh -e`, `#!/usr/bin/env bash` */
const SHELL_LINE = /^#!\s*\S*\/(?:env\s+)?(sh|ash|bash)((?:\s+-\S+)*)\s*\n/

/** A script that is there under that path. Throws UnknownCommand for what is no script of a shell. */
async function runFile(
  name: string,
  args: readonly string[],
  task: Omit<Process, 'args'>,
): Promise<number> {
  const { files, commands } = task.place
  const path = absolute(name, task.folder.path)
  if (!name.includes('/') || !files.exists(path) || files.isFolder(path))
    throw new UnknownCommand(name)
  if ((files.status(path).mode & ANY_EXECUTE) === 0) {
    await task.err(`${nameOf(task)}: ${name}: Permission denied\n`)
    return NOT_EXECUTABLE_EXIT_CODE
  }
  const text = Buffer.from(await files.read(path)).toString()
  // A shell runs what says nothing of whose it is itself.
  const own = text.startsWith('#!') || text.includes('\0') ? [] : ['', 'sh']
  const [, shell, options = ''] = SHELL_LINE.exec(`${text}\n`) ?? own
  const command = shell === undefined ? undefined : commands.get(shell)
  if (command === undefined) throw new UnknownCommand(name)
  const flags = options.split(/\s+/).filter((flag) => flag !== '')
  return command({ ...task, args: [...flags, path, ...args], called: shell })
}
