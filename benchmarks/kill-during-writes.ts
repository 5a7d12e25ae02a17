// What survives kill -9: writes go on while the process is killed, again and again, with one data directory.
//
//   node benchmarks/kill-during-writes.ts [--kills 100]
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { LoadClient } from './load/requests.ts'
import { openTarget } from './load/target.ts'
import type { Target } from './load/target.ts'

const { values } = parseArgs({ options: { kills: { type: 'string', default: '100' } } })
const kills = Number(values.kills)
const WRITERS = 16
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const MERGE_PATCH = 'application/merge-patch+json'
/** Answers before the kill differ from round to round, so that it comes at all moments of a write. */
const answersBefore = (round: number): number => 20 + ((round * 37) % 150)

interface Item {
  readonly metadata: { readonly name: string; readonly resourceVersion: string }
  readonly data?: { readonly n?: string }
}

/** The last answered state of each name; undefined: answered as deleted. */
const answered = new Map<string, { readonly version: number; readonly n: string } | undefined>()
/** Names with a write that was sent and not answered: either outcome is right, a mixture is not. */
const open = new Set<string>()
let highest = 0
const progress = { writes: 0 }

async function verify(client: LoadClient, round: number): Promise<void> {
  const list = JSON.parse((await client.ok('GET', CONFIG_MAPS)).toString())
  const stored = new Map<string, Item>(list.items.map((item: Item) => [item.metadata.name, item]))
  assert.ok(Number(list.metadata.resourceVersion) >= highest, `the counter fell in round ${round}`)
  for (const [name, expected] of answered) {
    const found = stored.get(name)
    if (open.has(name)) continue
    const state = found && { version: Number(found.metadata.resourceVersion), n: found.data!.n }
    assert.deepEqual(state, expected, `${name} in round ${round}`)
  }
  // What was open is decided now: whole or not at all.
  for (const name of open) {
    const found = stored.get(name)
    if (found === undefined) answered.delete(name)
    else answered.set(name, { version: Number(found.metadata.resourceVersion), n: found.data!.n! })
  }
  open.clear()
}

/** Creates, patches and deletes objects of its own until the connection is gone. */
async function write(client: LoadClient, round: number, writer: number): Promise<void> {
  for (let n = 0; ; n++) {
    const name = `kill-${round}-${writer}-${n}`
    const steps: readonly (readonly [string, string, string | undefined, string?])[] = [
      [
        'POST',
        CONFIG_MAPS,
        JSON.stringify({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name },
          data: { n: 'created' },
        }),
      ],
      ['PATCH', `${CONFIG_MAPS}/${name}`, '{"data":{"n":"patched"}}', MERGE_PATCH],
      ...(n % 3 === 0 ? [['DELETE', `${CONFIG_MAPS}/${name}`, undefined] as const] : []),
    ]
    for (const [method, path, body, type] of steps) {
      open.add(name)
      let answer
      try {
        answer = JSON.parse((await client.ok(method, path, body, type)).toString())
      } catch (error) {
        if (error instanceof Error && /: \d{3} /.test(error.message)) throw error
        return
      }
      open.delete(name)
      progress.writes++
      if (method === 'DELETE') answered.set(name, undefined)
      else {
        const version = Number(answer.metadata.resourceVersion)
        assert.ok(version > 0)
        highest = Math.max(highest, version)
        answered.set(name, { version, n: answer.data.n })
      }
    }
  }
}

const folder = mkdtempSync(join(tmpdir(), 'kill-during-writes-'))
const startedMs = performance.now()
try {
  for (let round = 0; round <= kills; round++) {
    const target: Target = await openTarget(undefined, undefined, [
      `--data-dir=${join(folder, 'data')}`,
    ])
    const reader = await LoadClient.open(target, 1)
    await verify(reader, round)
    if (round === kills) {
      reader.close()
      await target.stop()
      break
    }
    const client = await LoadClient.open(target, WRITERS)
    const until = progress.writes + answersBefore(round)
    const writers = Array.from({ length: WRITERS }, (_, writer) => write(client, round, writer))
    while (progress.writes < until) await new Promise((resolve) => setImmediate(resolve))
    process.kill(target.pid!, 'SIGKILL')
    await Promise.all(writers)
    reader.close()
    client.close()
    await target.stop()
  }
} finally {
  rmSync(folder, { recursive: true })
}
const seconds = ((performance.now() - startedMs) / 1000).toFixed(0)
console.log(
  `${kills} kills, ${progress.writes} answered writes, none lost, resourceVersions only grew (${seconds} s)`,
)
