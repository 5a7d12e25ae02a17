import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, test } from 'node:test'
import { promisify } from 'node:util'
import { SystemClock } from '@gyropilot/foundation'
import { DataDirectoryError, openSqliteStore } from './sqlite-store.ts'

let directory: string
const clock = new SystemClock()

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'gyropilot-store-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const put = (store: ReturnType<typeof openSqliteStore>, key: string, value: unknown) =>
  store.commit({ collection: 'things', key }, (revision) => ({
    metadata: { name: key, resourceVersion: String(revision) },
    value,
  }))

test('objects, their revisions and the counter survive a restart; history does not', () => {
  const store = openSqliteStore({ clock, directory })
  put(store, 'a', 'x')
  put(store, 'b', { __proto__: null, text: 'ü' })
  put(store, 'c', 1)
  store.commit({ collection: 'things', key: 'c' }, () => undefined)
  const before = store.list('things', '')
  store.close()
  const again = openSqliteStore({ clock, directory })
  assert.equal(again.revision, 4)
  assert.deepEqual(JSON.stringify(again.list('things', '')), JSON.stringify(before))
  assert.equal(
    again.watch('things', '', 3, () => {}),
    'expired',
  )
  assert.equal(put(again, 'd', 1).revision, 5)
  again.close()
})

test('what is stored is for the owner alone, also in a directory that others may read, and after a start that left it open', () => {
  chmodSync(directory, 0o755)
  const open = (): Record<string, string> => {
    const store = openSqliteStore({ clock, directory })
    put(store, 'a', 'secret')
    const names = readdirSync(directory).filter((name) => name.startsWith('state.db'))
    const modes = names.map((name) => [
      name,
      (statSync(join(directory, name)).mode & 0o777).toString(8),
    ])
    store.close()
    return Object.fromEntries(modes)
  }
  const expected = { 'state.db': '600', 'state.db-wal': '600' }
  assert.deepEqual(open(), expected)
  chmodSync(join(directory, 'state.db'), 0o644)
  assert.deepEqual(open(), expected)
})

test('integers that no number holds survive a restart', () => {
  const store = openSqliteStore({ clock, directory })
  put(store, 'a', { limit: 9223372036854775807n })
  store.close()
  const again = openSqliteStore({ clock, directory })
  assert.deepEqual(again.get({ collection: 'things', key: 'a' })?.object['value'], {
    limit: 9223372036854775807n,
  })
  again.close()
})

test('a write that the disk has no room for is refused in words that say so, keeps nothing, and smaller ones go on', async () => {
  const program = `
    import { SystemClock } from '@gyropilot/foundation'
    import { openSqliteStore } from ${JSON.stringify(import.meta.resolve('./sqlite-store.ts'))}
    const store = openSqliteStore({ clock: new SystemClock(), directory: process.argv[1] })
    const put = (key, value) =>
      store.commit({ collection: 'things', key }, (revision) => ({ metadata: { name: key, resourceVersion: String(revision) }, value }))
    put('a', 1)
    try { put('large', 'x'.repeat(2_000_000)) } catch (error) { console.log(error.name, error.message) }
    put('b', 2)
    console.log(store.revision, store.list('things', '').entries.map(({ object }) => object.metadata.name).join(' '))
    store.close()
  `
  // No file of the process may grow beyond half a megabyte.
  const limited = 'ulimit -f 512; exec "$@"'
  const args = ['--input-type=module', '--eval', program, '--', directory]
  const { stdout } = await promisify(execFile)(
    'bash',
    ['-c', limited, 'bash', process.execPath, ...args],
    { cwd: import.meta.dirname },
  )
  const [refusal, state] = stdout.trim().split('\n')
  assert.match(
    refusal!,
    /^DataDirectoryError cannot write to data directory .*: (disk I\/O error|database or disk is full)$/,
  )
  assert.equal(state, '2 a b')
})

test('a second server is refused with one clear error, and let in when the first has gone', () => {
  const store = openSqliteStore({ clock, directory, processId: 4711 })
  assert.throws(() => openSqliteStore({ clock, directory }), {
    name: 'DataDirectoryError',
    message: `data directory ${directory} is in use by another server (process 4711): stop it or choose another directory`,
  })
  store.close()
  openSqliteStore({ clock, directory }).close()
})

test('a second server in the process of the first takes nothing from its hold on the directory', async () => {
  const store = openSqliteStore({ clock, directory, processId: 4711 })
  assert.throws(() => openSqliteStore({ clock, directory }), { name: 'DataDirectoryError' })
  const program = `
    import { SystemClock } from '@gyropilot/foundation'
    import { openSqliteStore } from ${JSON.stringify(import.meta.resolve('./sqlite-store.ts'))}
    try {
      openSqliteStore({ clock: new SystemClock(), directory: process.argv[1] }).close()
      console.log('opened')
    } catch (error) { console.log(error.name) }
  `
  const args = ['--input-type=module', '--eval', program, '--', directory]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname })
  assert.equal(stdout, 'DataDirectoryError\n')
  store.close()
})

test('a directory of a newer version is refused and left as it is', () => {
  openSqliteStore({ clock, directory }).close()
  const database = new DatabaseSync(join(directory, 'state.db'))
  database.exec('PRAGMA user_version = 7')
  database.close()
  assert.throws(
    () => openSqliteStore({ clock, directory }),
    (error: unknown) =>
      error instanceof DataDirectoryError && /newer version \(format 7/.test(error.message),
  )
  const after = new DatabaseSync(join(directory, 'state.db'))
  assert.deepEqual({ ...after.prepare('PRAGMA user_version').get() }, { user_version: 7 })
  after.close()
})

const WRITER = `
import { SystemClock } from '@gyropilot/foundation'
import { openSqliteStore } from ${JSON.stringify(new URL('./sqlite-store.ts', import.meta.url).href)}
const store = openSqliteStore({ clock: new SystemClock(), directory: process.argv[1] })
for (let i = 0; ; i++) {
  const key = 'k' + (i % 50)
  if (i % 7 === 6 && store.get({ collection: 'things', key })) store.commit({ collection: 'things', key }, () => undefined)
  else store.commit({ collection: 'things', key }, (revision) => ({ metadata: { resourceVersion: String(revision) }, i }))
  process.stdout.write(store.revision + ' ' + key + ' ' + (store.get({ collection: 'things', key })?.object.i ?? 'gone') + '\\n')
}`

test('Given a kill at any point under load, then after restart every acknowledged object has its acknowledged RV and the next write gets a higher one', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', WRITER, directory], {
    cwd: new URL('..', import.meta.url),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const acknowledged = new Map<string, { revision: number; value: string }>()
  let last = 0
  for await (const line of createInterface({ input: child.stdout })) {
    const [revision, key, value] = line.split(' ')
    // The last line may be cut.
    if (value === undefined) break
    last = Number(revision)
    acknowledged.set(key!, { revision: last, value })
    if (last === 200) child.kill('SIGKILL')
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  const store = openSqliteStore({ clock, directory })
  assert.ok(last >= 200)
  assert.ok(store.revision >= last)
  // Writes that were done but not acknowledged any more, deletions too, explain as many differences and no more.
  let unacknowledged = store.revision - last
  for (const [key, { revision, value }] of acknowledged) {
    const entry = store.get({ collection: 'things', key })
    const isLater = (entry?.revision ?? 0) > last
    const isGone = entry === undefined && value !== 'gone'
    if (isLater || isGone) unacknowledged--
    else if (value === 'gone') assert.ok(entry === undefined)
    else {
      assert.equal(entry?.revision, revision)
      assert.equal(String(entry?.object['i']), value)
    }
  }
  assert.ok(unacknowledged >= 0)
  assert.ok(put(store, 'new', 1).revision > last)
  store.close()
})
