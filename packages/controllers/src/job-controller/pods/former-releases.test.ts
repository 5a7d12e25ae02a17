import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { StatusError } from '@gyropilot/client'
import { PrometheusRegistry } from '@gyropilot/foundation'
import { StaleCacheError } from '@gyropilot/runtime'
import { refused } from '../../workload-support/fixtures.ts'
import { job, jobPod, lastStatusOf, statusesOf, syncOf } from '../fixtures.ts'
import { JobMemory } from '../memory.ts'
import { JobMetrics } from '../metrics.ts'

const FOUR = job({ spec: { completions: 4, parallelism: 1 }, status: { succeeded: 1 } })
const DONE = jobPod('done', { phase: 'Succeeded' })

/** A sync of a process that has seen no release of its own; `live` is what the server has. */
function firstSync(subject: typeof FOUR, pods: readonly Pod[], live: readonly Pod[]) {
  const reads: unknown[] = []
  const registry = new PrometheusRegistry()
  const synced = syncOf(subject, pods, {
    settings: { metrics: new JobMetrics(registry) },
    showsFormerReleases: false,
    onRead(read) {
      reads.push(read)
      return { ok: true, object: { items: live } as never }
    },
  })
  const counted = [...registry.expose().matchAll(/^job_controller_job_syncs_total\S* (\d+)$/gm)]
  return {
    ...synced,
    reads: reads as { verb: string; namespace: string; labelSelector: string }[],
    countedSyncs: counted.reduce((sum, [, count]) => sum + Number(count), 0),
  }
}

test('a pod that is held on the server too is counted, after one live list of the pods of the Job', () => {
  const synced = firstSync(FOUR, [DONE, jobPod('more')], [DONE, jobPod('more')])
  assert.equal(lastStatusOf(synced).succeeded, 2)
  assert.equal(synced.countedSyncs, 1)
  assert.deepEqual(
    synced.reads.map(({ verb, namespace, labelSelector }) => [verb, namespace, labelSelector]),
    [['list', 'ns', 'job=work']],
  )
})

test('a pod that the leader before has counted and let go is not counted again: nothing is written, and the sync is retried', () => {
  const released = jobPod('done', { phase: 'Succeeded', tracked: false })
  const namesake = jobPod('done', { phase: 'Succeeded', metadata: { uid: 'other' } })
  for (const live of [[released], [], [namesake]]) {
    const { writes, result, countedSyncs } = firstSync(FOUR, [DONE], live)
    assert.deepEqual(writes, [])
    assert.equal(countedSyncs, 0)
    assert.ok(result?.error instanceof StaleCacheError)
    assert.equal(result.expected, true)
    assert.match(result.error.message, /done is shown with a finalizer that it has lost/)
  }
})

test('so are pods that have failed or are on their way out: both may count as failures', () => {
  for (const pod of [jobPod('p', { phase: 'Failed' }), jobPod('p', { deleting: true })])
    assert.ok(firstSync(FOUR, [pod], []).result?.error instanceof StaleCacheError)
})

test('pods that run, are free, or are in the status already need no look', () => {
  const uncounted = job({
    spec: { completions: 4, parallelism: 1 },
    status: { uncountedTerminatedPods: { succeeded: ['done-uid'], failed: ['lost-uid'] } },
  })
  const pods = [
    DONE,
    jobPod('lost', { phase: 'Failed' }),
    jobPod('runs'),
    jobPod('free', { phase: 'Succeeded', tracked: false }),
  ]
  const synced = firstSync(uncounted, pods, [])
  assert.deepEqual(synced.reads, [])
  assert.equal(statusesOf(synced).at(-1)?.succeeded, 1)
})

test('a pod whose release of this process is on its way needs none', () => {
  const memory = new JobMemory()
  memory.expectRemovals('ns/work', 'work-uid', ['done-uid'])
  const synced = syncOf(FOUR, [DONE], { memory, showsFormerReleases: false })
  assert.equal(synced.result?.error, undefined)
})

test('nor does any once a release of this process has been seen', () => {
  assert.equal(lastStatusOf(syncOf(FOUR, [DONE])).succeeded, 2)
})

test('a look that fails ends the sync with its error', () => {
  const onRead = () => refused(500, 'InternalError')
  const { writes, result } = syncOf(FOUR, [DONE], { showsFormerReleases: false, onRead })
  assert.deepEqual(writes, [])
  assert.ok(result?.error instanceof StatusError && result.error.code === 500)
  assert.equal(result.expected, false)
})
