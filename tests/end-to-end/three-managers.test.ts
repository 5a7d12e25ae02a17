import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { eventually, startGyro } from './gyro-process.ts'
import type { GyroProcess } from './gyro-process.ts'

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager'
const PODS = '/api/v1/namespaces/default/pods'
/** What `gyro up --managers` elects with. */
const LEASE_DURATION_MS = 15_000
const RETRY_PERIOD_MS = 2_000
/** Of the promise in docs/decisions/0010-fail-over-bound.md, with nothing added. */
const FAIL_OVER_MS = LEASE_DURATION_MS + RETRY_PERIOD_MS

const LABELS = { app: 'web' }
const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 3,
    selector: { matchLabels: LABELS },
    template: {
      metadata: { labels: LABELS },
      spec: { containers: [{ name: 'nginx', image: 'nginx:latest' }] },
    },
  },
}

let gyro: GyroProcess
before(async () => {
  gyro = await startGyro(['--managers=3'])
})
after(() => gyro.stop())

interface Lease {
  readonly spec: {
    readonly holderIdentity: string
    readonly leaseDurationSeconds: number
    readonly leaseTransitions: number
    readonly renewTime: string
  }
}

async function lease(): Promise<Lease | undefined> {
  const { status, body } = await gyro.request(LEASE)
  return status === 200 ? (body as Lease) : undefined
}

/** Which process leads, as `gyro up` tells it. */
function leaderPid(): number | undefined {
  const told = gyro.lines.findLast(({ text }) => String(text).endsWith('is the leader'))
  const pid = /\(process (\d+)\)/.exec(String(told?.['text']))?.[1]
  return pid === undefined ? undefined : Number(pid)
}

const running = async (): Promise<
  readonly { metadata: { name: string; uid: string; creationTimestamp: string } }[] | undefined
> => {
  const { body } = await gyro.request(PODS)
  const pods = body.items.filter(
    (pod: { status: { phase: string } }) => pod.status.phase === 'Running',
  )
  return pods.length === 3 && body.items.length === 3 ? pods : undefined
}

test('three managers, one leader: killing it moves the Lease within lease duration and retry period, and a pod deleted in between is replaced exactly once', async (t) => {
  assert.equal(gyro.managerPids.length, 3)
  const first = await eventually('a leader', 5_000, lease)
  gyro.apply(DEPLOYMENT)
  const before = await eventually('3 pods', 5_000, running)

  assert.equal(first.spec.leaseDurationSeconds * 1000, LEASE_DURATION_MS)
  const pid = await eventually('the leader is told', 1_000, leaderPid)
  // Right after a renewal: the lease lasts longest from there.
  const { renewTime } = (await lease())!.spec
  await eventually('a renewal', 5_000, async () => {
    const now = await lease()
    return now?.spec.renewTime === renewTime ? undefined : now
  })
  const killedMs = performance.now()
  process.kill(pid, 'SIGKILL')
  const victim = before[0]!.metadata
  gyro.ok('delete', 'pod', victim.name, '--wait=false')

  const second = await eventually('another holder', FAIL_OVER_MS + 1_000, async () => {
    const now = await lease()
    return now && now.spec.holderIdentity !== first.spec.holderIdentity ? now : undefined
  })
  const failOverMs = performance.now() - killedMs
  t.diagnostic(`the Lease moved ${Math.round(failOverMs)} ms after the kill`)
  assert.ok(failOverMs <= FAIL_OVER_MS, `the Lease moved ${failOverMs} ms after the kill`)
  assert.equal(second.spec.leaseTransitions, first.spec.leaseTransitions + 1)

  const after = await eventually('3 pods again', 10_000, running)
  const survivors = before.filter(({ metadata }) => metadata.uid !== victim.uid)
  for (const { metadata } of survivors)
    assert.ok(after.some((pod) => pod.metadata.uid === metadata.uid))
  const events = gyro.json('get', 'events', '--field-selector=reason=SuccessfulCreate')
  const created = events.items.reduce(
    (sum: number, event: { count?: number }) => sum + (event.count ?? 1),
    0,
  )
  assert.equal(created, 4, 'three at first and one replacement')
})

test('the keys of managers are private, and are not left behind', async () => {
  const keys = ['sa.key', 'ca.crt', 'ca.key'].map((name) => `${gyro.kubeconfig}.${name}`)
  assert.deepEqual(
    keys.map((key) => statSync(key).mode & 0o777),
    [0o600, 0o600, 0o600],
  )
  const ended = once(gyro.process, 'exit')
  gyro.process.kill('SIGTERM')
  await ended
  assert.deepEqual(keys.filter(existsSync), [])
})
