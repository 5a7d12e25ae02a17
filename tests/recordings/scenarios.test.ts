/**
 * Scenarios recorded from kube-controller-manager 1.36, played against our controllers: the same states and events at every
 * rest, and no more API writes than upstream tried. `trace.mjs` plays them and compares the states.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { AuditEntry } from '@gyropilot/cluster'
import { startCluster } from './in-process-cluster.ts'

/** Every recorded file is played. */
const GROUPS: readonly string[] = readdirSync(join(import.meta.dirname, 'scenarios')).map((name) =>
  name.replace(/\.json$/, ''),
)

/** Each played beside the others: scenarios that go one after the other, or wait for scans. */
const SLOW: ReadonlySet<string> = new Set(['autoscaler-edges', 'daemonset', 'pod-garbage-collector-edges'])

/** Its node would get pods of the DaemonSets that are played meanwhile: it comes after them. */
const ONE_MORE_NODE = 'node ttl annotation and pod cidr'

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
  const { cluster, server, stop } = await startCluster({ controllers: ['*', 'selinux-warning-controller'], audit: (entry) => audited.push(entry) })
  t.after(stop)
  const played = await Promise.all([...players()].map((part) => play(server, cluster.administratorToken, part)))
  const differences = played.flat()
  const tries = triesByNamespace(audited)
  const own: TriesByController[] = []
  const upstream: TriesByController[] = []
  for (const group of GROUPS) {
    for (const scenario of recorded(group)) {
      const recordedNow = recordedTries(scenario)
      const countsNodes = [...recordedNow.keys()].some(isOfNodes)
      const tried = [...(tries.get(namespaceOf(scenario.name)) ?? [])]
      own.push(new Map(tried.filter(([who]) => countsNodes || !isOfNodes(who))))
      upstream.push(recordedNow)
      await t.test(`${group}: ${scenario.name}`, () => {
        const different = differences.filter((text) => text.startsWith(`${group}/${scenario.name} [`))
        assert.deepEqual(different, [])
        assertNoMoreWrites(own.at(-1)!, upstream.at(-1)!, 1)
      })
    }
  }
  await t.test('all together', () => assertNoMoreWrites(summed(own), summed(upstream), 0))
})

/** What one player after the other plays, as `group/scenario`: each SLOW group has a player, all others share one. */
function players(): Iterable<readonly string[]> {
  const parts = new Map<string, string[]>()
  for (const group of GROUPS) {
    for (const { name } of recorded(group)) {
      const player = name === ONE_MORE_NODE ? 'daemonset' : SLOW.has(group) ? group : ''
      parts.set(player, [...(parts.get(player) ?? []), `${group}/${name}`])
    }
  }
  return parts.values()
}

function play(server: string, token: string, names: readonly string[]): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'scenarios-'))
  const json = join(folder, 'differences.json')
  const only = names
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

/** Writes to nodes are in no namespace: only some recordings have them. */
const OF_NODES = ' of nodes'
function isOfNodes(who: string): boolean {
  return who.endsWith(OF_NODES)
}

const WRITES = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** Writes of one controller that were tried, refused ones included. */
interface Tries {
  all: number
  /** Status updates that were accepted. */
  statuses: number
  /** Events that were told once more. */
  repeats: number
}

type TriesByController = ReadonlyMap<string, Tries>

/** Counting ends where the recordings end: when the played scenario is over and its namespace is being emptied. Leases are left out, as in the recordings. */
function triesByNamespace(audited: readonly AuditEntry[]): Map<string, Map<string, Tries>> {
  const byNamespace = new Map<string, Map<string, Tries>>()
  const over = new Set<string>()
  for (const { user, method, path, status } of audited) {
    const found = /\/(?:namespaces|nodes)\/(t[0-9a-f]{10})(?:\/([^/?]+))?/.exec(path)
    if (!WRITES.has(method) || found === null) continue
    const [, namespace = '', resource] = found
    const account = user.replace(/^system:(serviceaccount:kube-system:)?/, '')
    const controller = path.includes('/nodes/') ? `${account}${OF_NODES}` : account
    if (controller === 'namespace-controller' && !emptied.has(namespace)) over.add(namespace)
    if (over.has(namespace) || resource === 'leases') continue
    const tries = byNamespace.get(namespace) ?? new Map<string, Tries>()
    byNamespace.set(namespace, tries)
    const isStatus = /\/status(\?|$)/.test(path) && status < 400
    const isRepeat = method === 'PATCH' && resource === 'events'
    addTries(tries, controller, { all: 1, statuses: isStatus ? 1 : 0, repeats: isRepeat ? 1 : 0 })
  }
  return byNamespace
}

function recordedTries({ writes = {} }: Scenario): TriesByController {
  const tries = new Map<string, Tries>()
  for (const [text, count] of Object.entries(writes)) {
    const isStatus = text.endsWith('/status')
    const account = text.slice(0, text.indexOf(' '))
    const isOfNode = / nodes\b/.test(text)
    const isRepeat = text.endsWith(' patch events')
    const repeated = { all: count, statuses: isStatus ? count : 0, repeats: isRepeat ? count : 0 }
    addTries(tries, isOfNode ? `${account}${OF_NODES}` : account, repeated)
  }
  return tries
}

function addTries(tries: Map<string, Tries>, controller: string, more: Tries): void {
  const sum = tries.get(controller) ?? NOTHING
  tries.set(controller, {
    all: sum.all + more.all,
    statuses: sum.statuses + more.statuses,
    repeats: sum.repeats + more.repeats,
  })
}

const NOTHING: Tries = { all: 0, statuses: 0, repeats: 0 }

/**
 * No more tries than upstream. One accepted status more is let pass: whether two pods are counted in one status or in two hangs
 * on which event was read first, there as here. So is one event told once more: the binder of volumes looks again every 15 s of
 * its own clock, and whether that falls into a play is chance, there as here; how often it was told when the play ended is in the
 * states. And one more of another kind: a play of claims had one in half of the runs on a busy machine, which is to be found out.
 * Over all scenarios together nothing is let pass.
 */
function assertNoMoreWrites(own: TriesByController, upstream: TriesByController, spare: 0 | 1): void {
  const tooMany = [...own].flatMap(([controller, { all, statuses, repeats }]) => {
    const limit = upstream.get(controller) ?? NOTHING
    const excused = (count: number, bound: number): number => Math.min(spare, Math.max(0, count - bound))
    const clocked = excused(statuses, limit.statuses) + excused(repeats, limit.repeats)
    const most = limit.all + Math.max(spare, clocked)
    return all > most ? [`${controller}: ${all}, upstream ${limit.all}`] : []
  })
  assert.deepEqual(tooMany, [])
}

function summed(parts: readonly TriesByController[]): TriesByController {
  const sum = new Map<string, Tries>()
  for (const part of parts) {
    for (const [controller, more] of part) addTries(sum, controller, more)
  }
  return sum
}
