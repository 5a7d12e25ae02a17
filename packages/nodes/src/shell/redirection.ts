/** Streams of a command that go to and come from files: `>`, `>>`, `<`, `2>&1`. */
import { FileError, READ_ONLY } from '../files/file-error.ts'
import { absolute } from '../files/file-tree.ts'
import { Gathering } from '../files/gathered.ts'
import { expanded } from './expansion.ts'
import type { Expanding } from './expansion.ts'
import { inputOf } from './input.ts'
import { nameOf } from './process.ts'
import type { Process, Streams } from './process.ts'
import type { Redirection } from './script.ts'

/** Runs with other streams; what went to files is in them afterwards. */
export async function redirected(
  redirections: readonly Redirection[],
  task: Streams & Pick<Process, 'folder' | 'place' | 'shell'>,
  context: Expanding,
  act: (streams: Streams) => Promise<number>,
): Promise<number> {
  const { folder, place } = task
  const files: { path: string; taken: Gathering; append: boolean }[] = []
  let { stdin, out, err, isRead } = task
  for (const { from, mode, target } of redirections) {
    const path = absolute(await expanded(target, context), folder.path)
    if (mode === '&') {
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
      if (stream !== undefined) {
        if (from === 2) err = stream
        else out = stream
        continue
      }
      const taken = new Gathering(place.files.freeBytes(path))
      const isKept = path !== '/dev/null'
      if (isKept && place.files.isReadOnly(path)) return cannotCreate(task, path, READ_ONLY)
      const to = async (text: string | Uint8Array): Promise<void> => {
        if (isKept) taken.add(text)
      }
      if (isKept) files.push({ path, taken, append: mode === '>>' })
      if (from === 2) err = to
      else {
        isRead = false
        out = to
      }
    }
  }
  const exitCode = await act({ stdin, out, err, isRead })
  for (const { path, taken, append } of files) {
    try {
      const before = append && place.files.exists(path) ? [await place.files.read(path)] : []
      place.files.write(path, Buffer.concat([...before, taken.bytes()]))
    } catch (error) {
      if (!(error instanceof FileError)) throw error
      return cannotCreate(task, path, error.message)
    }
  }
  return exitCode
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

async function cannotCreate(
  task: Pick<Process, 'err' | 'shell'>,
  path: string,
  why: string,
): Promise<number> {
  await task.err(`${nameOf(task)}: can't create ${path}: ${why}\n`)
  return 1
}
