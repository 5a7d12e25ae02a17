import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '@gyropilot/foundation'
import { withStartLock } from './start-lock.ts'

let directory: string
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'start-lock-'))))
afterEach(() => rmSync(directory, { recursive: true, force: true }))

/** Whoever waits looks again in the next turn. */
const clock: Clock = {
  nowMs: () => 0,
  monotonicMs: () => 0,
  turnMs: () => 0,
  after(_, callback) {
    setImmediate(callback)
    return { cancel() {} }
  },
}

/** What three starts did, in their order; each takes some turns. */
async function starts(...folders: readonly string[]): Promise<readonly string[]> {
  const done: string[] = []
  await Promise.all(
    folders.map((folder) =>
      withStartLock({ directory, folder, clock }, async () => {
        done.push(`${folder} begins`)
        for (let turns = 0; turns < 20; turns++) await turn()
        done.push(`${folder} ends`)
      }),
    ),
  )
  return done
}

test('in one folder one start comes after the other, in two they go side by side', async () => {
  const one = ['/a begins', '/a ends']
  assert.deepEqual(await starts('/a', '/a', '/a'), [...one, ...one, ...one])
  assert.deepEqual((await starts('/a', '/b')).slice(0, 2), ['/a begins', '/b begins'])
  assert.deepEqual(readdirSync(directory), [])
})

test('a lock goes when its start fails, and is taken over when its process is gone', async () => {
  const failing = withStartLock({ directory, folder: '/a', clock }, () =>
    Promise.reject(new Error('no')),
  )
  await assert.rejects(failing, { message: 'no' })
  let name = ''
  await withStartLock({ directory, folder: '/a', clock }, async () => {
    name = readdirSync(directory)[0]!
  })
  for (const left of [`{"processId": ${2 ** 22 + 1}, "identity": "x"}`, 'half of a te']) {
    writeFileSync(join(directory, name), left)
    assert.equal((await starts('/a')).length, 2)
  }
  assert.deepEqual(readdirSync(directory), [])
})

test('where no lock can be written the start goes on', async () => {
  directory = join(directory, 'file')
  writeFileSync(directory, '')
  assert.equal((await starts('/a')).length, 2)
})
