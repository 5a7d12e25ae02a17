/** `tar -x` and `tar -t`: what an archive holds becomes files, or lines. */
import { FileError } from '../files/file-error.ts'
import { absolute, parent } from '../files/file-tree.ts'
import type { FileTree } from '../files/file-tree.ts'
import { inputOf } from '../shell/input.ts'
import type { Process } from '../shell/process.ts'
import { put } from './copy-commands.ts'
import { permissionText } from './mode-text.ts'
import type { TarOrder } from './tar-arguments.ts'
import { uncompressed } from './tar-compression.ts'
import { SafeNames, folderOf } from './tar-paths.ts'
import { askedAs, isExcluded, strippedOf, withoutLeading } from './tar-selection.ts'
import { unpackTar } from './tar.ts'
import type { TarHeader } from './tar.ts'

export async function list(task: Process, order: TarOrder): Promise<number> {
  const chosen = new Chosen(order)
  for await (const member of unpackTar(await opened(task, order), () => false)) {
    if (chosen.has(member.name))
      await task.out(`${order.isVerbose ? longLine(member, member.size) : member.name}\n`)
    await task.place.yieldIfLong()
  }
  return ended(task, chosen.notFound())
}

export async function extract(task: Process, order: TarOrder): Promise<number> {
  const { files, yieldIfLong } = task.place
  const folder = folderOf(task, order.folders)
  const chosen = new Chosen(order)
  const names = new SafeNames(task)
  const links: Link[] = []
  const problems: string[] = []
  const wants = (header: TarHeader, size: number): boolean => {
    if (!chosen.has(header.name)) return false
    const path = absolute(withoutLeading(strippedOf(header.name, order.stripped)), folder)
    if (!order.toOutput && size > files.freeBytes(path))
      throw new FileError('No space left on device')
    return true
  }
  for await (const member of unpackTar(await opened(task, order), wants)) {
    await yieldIfLong()
    const shown = strippedOf(member.name, order.stripped)
    if (!chosen.has(member.name) || shown === '') continue
    if (order.isVerbose) await (order.toOutput ? task.err : task.out)(`${shown}\n`)
    if (order.toOutput) {
      await task.out(member.bytes)
      continue
    }
    const path = absolute(await names.of(shown), folder)
    if (order.keepsOld && files.exists(path) && !files.isFolder(path)) {
      problems.push(`can't create '${shown}': File exists`)
      continue
    }
    if (member.kind === 'symlink' || member.kind === 'link') {
      links.push({ shown, path, from: leadsTo(member, path, folder, order.stripped) })
      continue
    }
    naming(shown, () => {
      files.makeFolder(member.kind === 'folder' ? path : parent(path), true)
      if (member.kind === 'file') files.write(path, member.bytes)
      describe(task, order, path, member)
    })
  }
  for (const { shown } of await followed(task, links))
    problems.push(`can't create '${shown}': what the link leads to is not there`)
  return ended(task, [...problems, ...chosen.notFound()])
}

/** The members that are meant; those that were asked for and are not there come out at the end. */
class Chosen {
  readonly #order: TarOrder
  readonly #asked: readonly string[]
  readonly #found = new Set<string>()

  constructor(order: TarOrder) {
    this.#order = order
    this.#asked = order.operands.map(({ name }) => name)
  }

  has(name: string): boolean {
    if (isExcluded(name, this.#order.exclude)) return false
    const asked = askedAs(name, this.#asked)
    if (asked !== undefined) this.#found.add(asked)
    return asked !== undefined || this.#asked.length === 0
  }

  notFound(): readonly string[] {
    return this.#asked
      .filter((name) => !this.#found.has(name))
      .map((name) => `${name}: not found in archive`)
  }
}

async function opened(task: Process, order: TarOrder): Promise<AsyncIterable<Uint8Array>> {
  const { archive, isCompressed } = order
  if (archive === '-') return uncompressed(task.stdin, isCompressed)
  const path = absolute(archive, task.folder.path)
  const bytes = await task.place.files.read(path).catch((error: unknown) => {
    if (!(error instanceof FileError)) throw error
    throw new FileError(`can't open '${archive}': ${error.message}`)
  })
  return uncompressed(inputOf(bytes), isCompressed)
}

async function ended(task: Process, problems: readonly string[]): Promise<number> {
  for (const problem of problems) await task.err(`tar: ${problem}\n`)
  return problems.length > 0 ? 1 : 0
}

function naming(shown: string, act: () => void): void {
  try {
    act()
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    throw new FileError(`can't create '${shown}': ${error.message}`)
  }
}

const PERMISSIONS = 0o777

/** As the archive says; of others than root without the umask and without special bits, as who makes them is the owner. */
function describe(task: Process, order: TarOrder, path: string, member: TarHeader): void {
  const { files, user } = task.place
  const isRoot = user.uid === 0
  const now = files.status(path)
  const mode = (order.keepsMode ?? isRoot) ? member.mode : member.mode & PERMISSIONS & ~files.umask
  const { uid, gid } = order.keepsOwner && isRoot ? member : now
  if (mode !== now.mode || uid !== now.uid || gid !== now.gid)
    files.describe(path, { mode, uid, gid })
}

interface Link {
  readonly shown: string
  readonly path: string
  readonly from: string
}

/** A hard link names a member of the archive, another one a path beside it. */
function leadsTo(
  { kind, target }: TarHeader,
  path: string,
  folder: string,
  stripped: number,
): string {
  return kind === 'link'
    ? absolute(strippedOf(target, stripped).replace(/^\/+/, ''), folder)
    : absolute(target, parent(path))
}

/** As many links within one another as Linux follows. */
const MOST_FOLLOWED = 40

/** Files have no links here: each becomes a copy of what it leads to, once that is there. Answers those that lead to nothing. */
async function followed(task: Process, links: readonly Link[]): Promise<readonly Link[]> {
  const { files, yieldIfLong } = task.place
  let waiting = links
  for (let round = 0; round < MOST_FOLLOWED && waiting.length > 0; round++) {
    const later: Link[] = []
    for (const link of waiting) {
      await yieldIfLong()
      if (canBeCopied(files, link)) await copied(files, link)
      else later.push(link)
    }
    if (later.length === waiting.length) break
    waiting = later
  }
  return waiting
}

/** No folder can be copied into itself. */
function canBeCopied(files: FileTree, { path, from }: Link): boolean {
  return files.exists(from) && !`${path}/`.startsWith(`${from}/`)
}

async function copied(files: FileTree, { shown, path, from }: Link): Promise<void> {
  try {
    files.makeFolder(parent(path), true)
    await put(files, from, path)
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    throw new FileError(`can't create '${shown}': ${error.message}`)
  }
}

const KIND_LETTERS = { file: '-', folder: 'd', symlink: 'l', link: 'h' } as const
/** Of an owner and a size together, as GNU has it. */
const OWNER_AND_SIZE_CHARS = 19
/** The last that has a year of four digits. */
const LAST_TIME_MS = 253_402_300_799_000

function longLine({ name, kind, mode, uid, gid, timeMs, target }: TarHeader, size: number): string {
  const nameOf = (id: number): string => (id === 0 ? 'root' : String(id))
  const owner = `${nameOf(uid)}/${nameOf(gid)}`
  const time = new Date(Math.min(timeMs, LAST_TIME_MS)).toISOString().slice(0, 16).replace('T', ' ')
  const sized = ` ${size}`.padStart(OWNER_AND_SIZE_CHARS - owner.length)
  const arrow = { symlink: ` -> ${target}`, link: ` link to ${target}`, file: '', folder: '' }[kind]
  return `${KIND_LETTERS[kind]}${permissionText(mode)} ${owner}${sized} ${time} ${name}${arrow}`
}
