import { FileStore } from '../files/file-store.ts'
import { FileTree } from '../files/file-tree.ts'
import { inputOf } from '../shell/input.ts'
import type { Surroundings } from '../shell/process.ts'
import { runCommand } from '../shell/run-command.ts'
import { COMMANDS } from './commands.ts'

/** A pod `p` whose programs are root, see these files and never wait. */
export function placeWith(files: FileTree): Surroundings {
  return {
    commands: COMMANDS,
    files,
    hostname: 'p',
    user: { uid: 0, gid: 0, groups: [0] },
    program: '',
    nowMs: () => 0,
    sleep: async () => {},
    yieldIfLong: () => undefined,
  }
}

/**
 * What a script says in a container with these files, an empty `/e` and a read-only `/ro`, on both of its streams; an exit code
 * other than 0 stands behind it in brackets.
 */
export async function saidWith(
  files: Readonly<Record<string, string>>,
  script: string,
): Promise<string> {
  const root = new FileStore()
  for (const [path, text] of Object.entries(files)) root.set(path, Buffer.from(text))
  root.makeFolder('/e')
  const mount = { path: '/ro', store: new FileStore(), subPath: '', readOnly: true }
  let all = ''
  const add = async (text: string | Uint8Array): Promise<void> =>
    void (all += typeof text === 'string' ? text : Buffer.from(text).toString())
  const streams = { stdin: inputOf(new Uint8Array(0)), out: add, err: add }
  const place = placeWith(new FileTree(root, [mount]))
  const exitCode = await runCommand(['sh', '-c', script], streams, place, new Map())
  return exitCode === 0 ? all : `${all}(${exitCode})`
}
