/**
 * Scenarios recorded from kube-controller-manager 1.36, played against our controllers: the same states and events at every
 * rest, and no more API writes than upstream took. `trace.mjs` plays them and compares the states.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { AuditEntry } from '@gyropilot/cluster'
import { startCluster } from './in-process-cluster.ts'

/** Scenarios of controllers that are built here. One that needs another controller is added with it. */
const BUILT: Readonly<Record<string, (name: string) => boolean>> = {
  deployment: () => true,
  replicaset: (name) => !name.startsWith('replication controller'),
  lifecycle: (name) =>
    [
      'owner that never was',
      'owner of an unknown kind stays',
      'default account and root certificate come back',
      'autoscaler without metrics',
    ].includes(name),
}

interface Scenario {
  readonly name: string
  readonly writes?: Readonly<Record<string, number>>
}

const SALT = 'recorded'
/** Namespaces whose emptying is what the scenario is about. */
const emptied = new Set(['namespace goes away'].map(namespaceOf))

/** As the player names it. */
function namespaceOf(scenario: string): string {
  return `t${createHash('sha1').update(scenario + SALT).digest('hex').slice(0, 10)}`
}

function recorded(group: string): readonly Scenario[] {
  const text = readFileSync(join(import.meta.dirname, 'scenarios', `${group}.json`), 'utf8')
  return (JSON.parse(text) as { scenarios: Scenario[] }).scenarios
}

test('the states and events of upstream are reached, with no more writes than it took', { timeout: 300_000 }, async (t) => {
  const audited: AuditEntry[] = []
  const { cluster, server, stop } = await startCluster({ controllers: true, audit: (entry) => audited.push(entry) })
  t.after(stop)
  const differences = await play(server, cluster.administratorToken)
  const counts = writesByNamespace(audited)
  for (const [group, isBuilt] of Object.entries(BUILT)) {
    for (const scenario of recorded(group).filter(({ name }) => isBuilt(name))) {
      await t.test(`${group}: ${scenario.name}`, () => {
        const own = differences.filter((text) => text.startsWith(`${group}/${scenario.name} [`))
        assert.deepEqual(own, [])
        assertNoMoreWrites(scenario, counts.get(namespaceOf(scenario.name)) ?? new Map())
      })
    }
  }
})

function play(server: string, token: string): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'scenarios-'))
  const json = join(folder, 'differences.json')
  const only = Object.entries(BUILT)
    .flatMap(([group, isBuilt]) => recorded(group).filter(({ name }) => isBuilt(name)).map(({ name }) => `${group}/${name}`))
    .map((name) => `^${name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`)
    .join('|')
  const script = join(import.meta.dirname, 'trace.mjs')
  const args = [script, '--server', server, '--token', token, '--only', only, '--salt', SALT, '--json', json, '--parallel', '8']
  return new Promise((resolve, reject) => {
    const player = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
    player.once('error', reject)
    player.once('exit', () => {
      const differences = JSON.parse(readFileSync(json, 'utf8')) as string[]
      rmSync(folder, { recursive: true })
      resolve(differences)
    })
  })
}

const WRITES = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/**
 * Writes per controller, by namespace. Counting ends where the recordings end: when the played scenario is over and its
 * namespace is being emptied. Leases are left out, as in the recordings.
 */
function writesByNamespace(audited: readonly AuditEntry[]): Map<string, Map<string, number>> {
  const byNamespace = new Map<string, Map<string, number>>()
  const over = new Set<string>()
  for (const { user, method, path, status } of audited) {
    const found = /\/namespaces\/(t[0-9a-f]{10})(?:\/([^/?]+))?/.exec(path)
    if (!WRITES.has(method) || status >= 400 || found === null) continue
    const [, namespace = '', resource] = found
    const controller = user.replace(/^system:(serviceaccount:kube-system:)?/, '')
    if (controller === 'namespace-controller' && !emptied.has(namespace)) over.add(namespace)
    if (over.has(namespace) || resource === 'leases') continue
    const counts = byNamespace.get(namespace) ?? new Map<string, number>()
    byNamespace.set(namespace, counts)
    counts.set(controller, (counts.get(controller) ?? 0) + 1)
  }
  return byNamespace
}

/** Accepted writes against accepted writes: which try meets a conflict depends on who was faster. */
function assertNoMoreWrites(scenario: Scenario, counts: ReadonlyMap<string, number>): void {
  const allowed = new Map<string, number>()
  for (const [text, count] of Object.entries(scenario.writes ?? {})) {
    if (/ -> \d+$/.test(text)) continue
    const controller = text.slice(0, text.indexOf(' '))
    allowed.set(controller, (allowed.get(controller) ?? 0) + count)
  }
  const tooMany = [...counts]
    .filter(([controller, count]) => count > (allowed.get(controller) ?? 0))
    .map(([controller, count]) => `${controller}: ${count}, upstream ${allowed.get(controller) ?? 0}`)
  assert.deepEqual(tooMany, [])
}
