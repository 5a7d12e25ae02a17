/** Streams of a command that go to and come from files: `>`, `>>`, `<`, `<<`, `2>&1`. */
import { FileError } from '../files/file-error.ts'
import { absolute } from '../files/file-tree.ts'
import type { FileTree } from '../files/file-tree.ts'
import { expanded } from './expansion.ts'
import type { Expanding } from './expansion.ts'
import { inputOf } from './input.ts'
import { nameOf } from './process.ts'
import type { Process, Streams } from './process.ts'
import type { Redirection } from './script.ts'

/** Runs with other streams. Files are there from the start, and have at once what is written. */
export async function redirected(
  redirections: readonly Redirection[],
  task: Streams & Pick<Process, 'folder' | 'place' | 'shell'>,
  context: Expanding,
  act: (streams: Streams) => Promise<number>,
): Promise<number> {
  const { folder, place } = task
  let { stdin, out, err, isRead } = task
  for (const { from, mode, target } of redirections) {
    const text = await expanded(target, context)
    const path = absolute(text, folder.path)
    if (mode === '<<') stdin = inputOf(Buffer.from(text))
    else if (mode === '&') {
      if (from === 2) err = out
      else {
        isRead = false
        out = (text) => err(typeof text === 'string' ? text : Buffer.from(text).toString())
      }
    } else if (mode === '<') {
      try {
        stdin = inputOf(path === '/dev/null' ? new Uint8Array(0) : await place.files.read(path))
      } catch (error) {
        await task.err(`${nameOf(task)}: can't open ${path}: ${(error as Error).message}\n`)
        return 1
      }
    } else {
      const stream = streamAt(path, task)
      try {
        const to = stream ?? (await opened(path, mode === '>>', place.files))
        if (from === 2) err = to
        else out = to
      } catch (error) {
        if (!(error instanceof FileError)) throw error
        await task.err(`${nameOf(task)}: can't create ${path}: ${error.message}\n`)
        return 1
      }
      if (stream === undefined && from === 1) isRead = false
    }
  }
  return act({ stdin, out, err, isRead })
}

/** What is written to it goes where the last piece ended, or to the end of the file. */
async function opened(path: string, appends: boolean, files: FileTree): Promise<Streams['out']> {
  if (path === '/dev/null') return async () => {}
  await files.open(path, appends)
  let end = 0
  return async (text) => {
    const bytes = typeof text === 'string' ? Buffer.from(text) : text
    end = files.writeAt(path, appends ? undefined : end, bytes)
  }
}

/** Paths that are streams: the command's own, and those of the container's program. */
function streamAt(
  path: string,
  { out, err, place }: Streams & Pick<Process, 'place'>,
): Streams['err'] | undefined {
  if (/^\/(?:dev\/stdout|proc\/self\/fd\/1)$/.test(path)) return out
  if (/^\/(?:dev\/stderr|proc\/self\/fd\/2)$/.test(path)) return err
  const { tell } = place
  if (tell === undefined || !/^\/proc\/1\/fd\/[12]$/.test(path)) return undefined
  return (text) => tell(Buffer.from(text))
}
