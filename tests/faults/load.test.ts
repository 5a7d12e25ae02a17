// More than a handler or a moment can take. Turns are measured by what they compute, which holds on a busy machine too.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { endOfList, informersOnServer, line, pod } from './informer-on-server.ts'

const BURST = 10_000

/** The most that this thread computes between two turns of the event loop until `work` is done. */
async function longestTurnMs(work: Promise<unknown>): Promise<number> {
  let longestMs = 0
  let lastMs = threadCpuMs()
  let running = true
  const turn = (): void => {
    const nowMs = threadCpuMs()
    longestMs = Math.max(longestMs, nowMs - lastMs)
    lastMs = nowMs
    if (running) setImmediate(turn)
  }
  setImmediate(turn)
  await work
  running = false
  return longestMs
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** About 2 KB, as pods are. */
function largePod(number: number): Pod {
  const env = Array.from({ length: 20 }, (_, i) => ({
    name: `VARIABLE_${i}`,
    value: `value ${i} of them`,
  }))
  const spec = { containers: [{ name: 'web', image: 'registry.example.com/web:v1', env }] }
  return { ...pod(`pod-${number}`, number + 10, { number: String(number) }), spec } as Pod
}

test('ten thousand events in one burst reach ten handlers in order, and no turn of the event loop computes for 50 ms', async (context) => {
  const { informer, start, nextWatch } = await informersOnServer(context)
  const pods = informer(resources.pods)
  const received: string[][] = Array.from({ length: 10 }, () => [])
  const finished = Promise.all(
    received.map(
      (names) =>
        new Promise<void>((resolve) => {
          pods.addHandler({
            onAdd(object) {
              names.push(object.metadata!.name!)
              if (names.length === BURST) resolve()
            },
          })
        }),
    ),
  )
  start()
  const { response } = await nextWatch()
  response.write(endOfList(7))
  await pods.whenSynced(new AbortController().signal)
  const burst = Buffer.from(
    Array.from({ length: BURST }, (_, number) => line('ADDED', largePod(number))).join(''),
  )
  const startedMs = performance.now()
  response.write(burst)
  // The server is in this thread too, and encrypts all of the burst in the turn behind its write.
  await new Promise((resolve) => setImmediate(resolve))
  const blockedMs = await longestTurnMs(finished)
  const tookMs = performance.now() - startedMs
  const expected = Array.from({ length: BURST }, (_, number) => `pod-${number}`)
  for (const names of received) assert.deepEqual(names, expected)
  assert.equal(pods.lastSyncResourceVersion(), String(BURST + 9))
  assert.ok(blockedMs < 50, `a turn computed for ${blockedMs.toFixed(0)} ms`)
  assert.ok(tookMs < 10_000, `the burst took ${tookMs.toFixed(0)} ms`)
})

test('a handler that never returns stalls neither other handlers nor the watch nor the cache', async (context) => {
  const { informer, start, nextWatch } = await informersOnServer(context)
  const pods = informer(resources.pods)
  let stuckCalls = 0
  const stuck = pods.addHandler({
    onAdd: () => {
      stuckCalls++
      return new Promise<void>(() => {})
    },
  })
  const failing = new Promise<void>((resolve) => {
    pods.addHandler({
      onAdd() {
        resolve()
        throw new Error('this handler is broken')
      },
    })
  })
  const count = 3_000
  const healthy = new Promise<void>((resolve) => {
    let calls = 0
    pods.addHandler({ onAdd: () => void (++calls === count && resolve()) })
  })
  start()
  const { response } = await nextWatch()
  for (let number = 0; number < count; number++) response.write(line('ADDED', largePod(number)))
  response.write(endOfList(count + 10))
  await Promise.all([healthy, failing])
  assert.equal(pods.lister.list().length, count)
  assert.equal(pods.lastSyncResourceVersion(), String(count + 10))
  assert.equal(stuckCalls, 1)
  assert.equal(stuck.hasSynced(), false, 'the stuck handler has not had its list')
  const next = new Promise<void>((resolve) => {
    pods.addHandler({ onUpdate: () => resolve() })
  })
  response.write(line('MODIFIED', { ...largePod(1), metadata: pod('pod-1', count + 20).metadata }))
  await next
})
