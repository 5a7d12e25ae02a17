import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually, startGyro } from './gyro-process.ts'
import type { GyroProcess } from './gyro-process.ts'

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager'
const PODS = '/api/v1/namespaces/default/pods'
/** What `gyro up --managers` elects with. */
const LEASE_DURATION_MS = 5_000
const RETRY_PERIOD_MS = 500
/**
 * A contender looks at the lease every 1 to 2.2 retry periods: so late it may see the last renewal, and so late after the end
 * of the lease it may try.
 */
const FAILOVER_MS_MAX = LEASE_DURATION_MS + 2 * 2.2 * RETRY_PERIOD_MS

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
  readonly spec: { readonly holderIdentity: string; readonly leaseTransitions: number }
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

test('three managers, one leader: killing it moves the Lease in time, and a pod deleted in between is replaced exactly once', async () => {
  assert.equal(gyro.managerPids.length, 3)
  const first = await eventually('a leader', 5_000, lease)
  gyro.apply(DEPLOYMENT)
  const before = await eventually('3 pods', 5_000, running)

  const pid = await eventually('the leader is told', 1_000, leaderPid)
  process.kill(pid, 'SIGKILL')
  const victim = before[0]!.metadata
  gyro.ok('delete', 'pod', victim.name, '--wait=false')

  const second = await eventually('another holder', FAILOVER_MS_MAX + 1_000, async () => {
    const now = await lease()
    return now && now.spec.holderIdentity !== first.spec.holderIdentity ? now : undefined
  })
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
