/**
 * `agnhost mounttest`: what is mounted in a container, whose it is and what stands in it, in lines that tests look for. Its flags
 * are worked off in one order, whatever order they are given in: it writes before it looks.
 */
import { FileError } from '../../files/file-error.ts'
import { absolute, parent } from '../../files/file-tree.ts'
import { permissionText } from '../mode-text.ts'
import type { Process } from '../../shell/process.ts'

/** What it writes into a new file, and what the loop ends at. */
const NEW_CONTENT = 'mount-tester new file\n'
const NEW_FILE_MODES = ['0644', '0666', '0660', '0777']
const ROUND_MS = 2_000
const USUAL_RETRY_SECONDS = 180
const SET_GROUP_ID = 0o2000
const STICKY = 0o1000
/** `statfs` answers a number for those that have no name here. */
const EXT4 = 61_267

export async function mountTest(
  task: Process,
  flags: ReadonlyMap<string, string>,
): Promise<number> {
  const written = NEW_FILE_MODES.map(
    (mode) =>
      [flags.get(`new_file_${mode}`), (path: string) => writeNew(task, path, mode)] as const,
  )
  const steps: readonly (readonly [string | undefined, (path: string) => Promise<void>])[] = [
    [flags.get('fs_type'), (path) => printType(task, path)],
    ...written,
    [flags.get('file_mode'), (path) => printMode(task, path)],
    [flags.get('file_perm'), (path) => printPermissions(task, path)],
    [flags.get('file_content'), (path) => printContent(task, path)],
    [flags.get('file_owner'), (path) => printOwner(task, path)],
    [flags.get('file_content_in_loop'), (path) => printInLoop(task, path, flags)],
  ]
  let exitCode = 0
  for (const [path, step] of steps) {
    if (path === undefined) continue
    try {
      await step(path)
    } catch (error) {
      if (!(error instanceof FileError)) throw error
      await task.out(`error: ${describe(path, error)}\n`)
      exitCode = 1
    }
  }
  return exitCode
}

async function printType(task: Process, path: string): Promise<void> {
  const { fileSystem } = statusOf(task, path)
  await task.out(`mount type of ${quoted(path)}: ${fileSystem === 'tmpfs' ? 'tmpfs' : EXT4}\n`)
}

async function writeNew(task: Process, path: string, mode: string): Promise<void> {
  const { files, user } = task.place
  const at = absolute(path, task.folder.path)
  files.write(at, Buffer.from(NEW_CONTENT))
  const folder = files.status(parent(at))
  const gid = folder.mode & SET_GROUP_ID ? folder.gid : user.gid
  files.describe(at, { mode: Number.parseInt(mode, 8), uid: user.uid, gid })
  await printContent(task, path)
}

async function printMode(task: Process, path: string): Promise<void> {
  const { mode, isFolder } = statusOf(task, path)
  const kind = `${isFolder ? 'd' : ''}${mode & SET_GROUP_ID ? 'g' : ''}${mode & STICKY ? 't' : ''}`
  await task.out(`mode of file ${quoted(path)}: ${kind || '-'}${permissionText(mode)}\n`)
}

async function printPermissions(task: Process, path: string): Promise<void> {
  await task.out(`perms of file ${quoted(path)}: -${permissionText(statusOf(task, path).mode)}\n`)
}

async function printOwner(task: Process, path: string): Promise<void> {
  const { uid, gid } = statusOf(task, path)
  await task.out(`owner UID of ${quoted(path)}: ${uid}\nowner GID of ${quoted(path)}: ${gid}\n`)
}

async function printContent(task: Process, path: string): Promise<void> {
  const bytes = await task.place.files.read(absolute(path, task.folder.path))
  await task.out(`content of file ${quoted(path)}: ${Buffer.from(bytes).toString()}\n`)
}

/** Reads what is there at each time: config maps, secrets and fields of the pod may change while it runs. */
async function printInLoop(
  task: Process,
  path: string,
  flags: ReadonlyMap<string, string>,
): Promise<void> {
  const { place } = task
  const untilMs = place.nowMs() + Number(flags.get('retry_time') ?? USUAL_RETRY_SECONDS) * 1_000
  const mayEndEarly = flags.get('break_on_expected_content') !== 'false'
  for (; place.nowMs() < untilMs; await place.sleep(ROUND_MS)) {
    const files = (await place.filesNow?.()) ?? place.files
    try {
      const text = Buffer.from(await files.read(absolute(path, task.folder.path))).toString()
      await task.out(`content of file ${quoted(path)}: ${text}\n`)
      if (mayEndEarly && text === NEW_CONTENT) return
    } catch (error) {
      if (!(error instanceof FileError)) throw error
      await task.out(`Error reading file ${path}: ${describe(path, error)}, retrying\n`)
    }
  }
}

function statusOf({ place, folder }: Process, path: string): ReturnType<typeof place.files.status> {
  return place.files.status(absolute(path, folder.path))
}

/** As programs in Go put it. */
function describe(path: string, { message }: FileError): string {
  return `open ${path}: ${message.toLowerCase()}`
}

function quoted(path: string): string {
  return JSON.stringify(path)
}
