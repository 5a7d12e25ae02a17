import assert from 'node:assert/strict'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { finished, repository } from './gyro-process.ts'
import type { Finished } from './gyro-process.ts'

/** A checkout of the script and what it reads, and a PATH with what it needs but neither kubectl nor apt. */
let folder: string
let script: string
let bin: string
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'find-kubectl-'))
  mkdirSync(join(folder, 'scripts'))
  script = join(folder, 'scripts', 'find-kubectl.sh')
  for (const name of ['find-kubectl.sh', 'debian-archive.sh'])
    cpSync(join(repository, 'scripts', name), join(folder, 'scripts', name))
  bin = join(folder, 'bin')
  mkdirSync(bin)
  for (const tool of ['bash', 'cat', 'dirname', 'env', 'head', 'id', 'ls', 'sed'])
    symlinkSync(finished('which', [tool]).stdout.trim(), join(bin, tool))
})
after(() => rmSync(folder, { recursive: true }))

/** A kubectl that knows its version and nothing else. */
function kubectl(version: string, path: string): string {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, `#!/bin/sh\necho '  "gitVersion": "v${version}",'\n`)
  chmodSync(path, 0o755)
  return path
}

const find = (more: NodeJS.ProcessEnv = {}, ...args: string[]): Finished =>
  finished(script, args, { PATH: bin, ...more })

const ADVICE =
  'the end-to-end tests need kubectl 1.32 to 1.36: install it, or set KUBECTL to its path\n'

test('no kubectl, one that is too old or too new, and no apt: one line that says what to do', () => {
  const none = {
    code: 1,
    stdout: '',
    stderr: `find-kubectl: no kubectl that is new enough, and no apt to fetch one with; ${ADVICE}`,
  }
  assert.deepEqual(find(), none)
  for (const version of ['1.20.2', '1.31.9', '1.37.0', '2.33.0']) {
    const path = kubectl(version, join(bin, 'kubectl'))
    assert.deepEqual(find(), none, version)
    assert.deepEqual(find({ KUBECTL: path }), {
      code: 1,
      stdout: '',
      stderr: `find-kubectl: KUBECTL=${path} is not such a kubectl; ${ADVICE}`,
    })
  }
})

test('KUBECTL before PATH, PATH before what was fetched, the newest of that', () => {
  const fetched = join(folder, '.gyropilot/kubectl')
  kubectl('1.34.1', join(fetched, 'kubectl-1.34.1'))
  const newest = kubectl('1.36.4', join(fetched, 'kubectl-1.36.4'))
  assert.equal(find().stdout, `${newest}\n`)
  const onPath = kubectl('1.32.4-dispatcher', join(bin, 'kubectl'))
  assert.equal(find().stdout, `${onPath}\n`)
  assert.equal(find({}, '--fetched').stdout, `${newest}\n`)
  const chosen = kubectl('1.33.1', join(folder, 'own'))
  assert.equal(find({ KUBECTL: chosen }).stdout, `${chosen}\n`)
})
