/** The folder of a test harness: three programs under the names that it looks for. */
import { chmodSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '@gyropilot/foundation'
import { programOf } from './programs.ts'

interface Assets {
  readonly folder: string
  /** Path of a kubectl; empty: there is none, and the one in the folder says so. */
  readonly kubectl: string
  /** The Node that runs the two stand-ins. */
  readonly node: string
}

const EXECUTABLE = 0o755

/** Each is replaced as a whole: a harness may be starting it. */
export function writeAssets({ folder, kubectl, node }: Assets): void {
  makeDirectory(folder, 0o755)
  const programs = {
    'kube-apiserver': started([node, QUIET, ...programOf('kube-apiserver')]),
    etcd: started([node, QUIET, ...programOf('etcd')]),
    kubectl:
      kubectl === ''
        ? "echo 'kubectl: there was none on PATH when gyro envtest made this folder: install it and run gyro envtest again' >&2\nexit 1\n"
        : started([kubectl]),
  }
  for (const [name, body] of Object.entries(programs)) {
    const path = join(folder, name)
    const unfinished = `${path}.${process.pid}`
    writeFileSync(unfinished, `#!/bin/sh\n# Written by gyro envtest.\n${body}`)
    chmodSync(unfinished, EXECUTABLE)
    renameSync(unfinished, path)
  }
}

const QUIET = '--disable-warning=ExperimentalWarning'

/** Who started it is told, because it may be gone before the program looks. */
function started(words: readonly string[]): string {
  return `GYRO_STARTED_BY=$PPID exec ${words.map(quoted).join(' ')} "$@"\n`
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}
