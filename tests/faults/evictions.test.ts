// The two halves of a disruption budget at once, over real HTTP: the server takes from the budget while the controller counts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, PodDisruptionBudget, PodList } from '@gyropilot/api'
import { startCluster } from '../recordings/in-process-cluster.ts'
import { caller } from './caller.ts'
import type { Caller } from './caller.ts'

const PODS = 100
const MIN_AVAILABLE = 90
const CORE = '/api/v1/namespaces/default/pods'
const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'

type Call = Caller['call']

/** On a node that nobody plays: what is evicted stays on its way out. */
async function readyPod(call: Call, name: string): Promise<void> {
  const metadata = { name, labels: { app: 'a' } }
  const spec = { nodeName: 'node-a', containers: [{ name: 'c', image: 'img:1' }] }
  assert.equal(
    (await call('POST', CORE, { apiVersion: 'v1', kind: 'Pod', metadata, spec })).code,
    201,
  )
  const conditions = [{ type: 'Ready', status: 'True' }]
  const status = { phase: 'Running', conditions }
  const path = `${CORE}/${name}/status`
  assert.equal((await call('PATCH', path, { status }, 'application/merge-patch+json')).code, 200)
}

async function settledBudget(
  call: Call,
  isSettled: (budget: PodDisruptionBudget) => boolean,
): Promise<PodDisruptionBudget> {
  const deadlineMs = performance.now() + 30_000
  for (;;) {
    const { body } = await call<PodDisruptionBudget>('GET', `${BUDGETS}/b`)
    if (isSettled(body)) return body
    assert.ok(performance.now() < deadlineMs, JSON.stringify(body.status))
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

test(
  'no eviction beyond the budget under 100 parallel evictions',
  { timeout: 120_000 },
  async (t) => {
    const { cluster, server, stop } = await startCluster({ controllers: true })
    const { call, close } = caller(server, cluster.administratorToken, PODS)
    t.after(async () => {
      close()
      await stop()
    })
    const names = Array.from({ length: PODS }, (_, index) => `p${index}`)
    await Promise.all(names.map((name) => readyPod(call, name)))
    const selector = { matchLabels: { app: 'a' } }
    const made = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'b' },
      spec: { minAvailable: MIN_AVAILABLE, selector },
    }
    assert.equal((await call('POST', BUDGETS, made)).code, 201)
    await settledBudget(call, ({ status }) => status?.disruptionsAllowed === PODS - MIN_AVAILABLE)

    const evict = (name: string): Promise<{ readonly code: number }> =>
      call('POST', `${CORE}/${name}/eviction`, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name },
      })
    const going = async (): Promise<readonly Pod[]> => {
      const { body } = await call<PodList>('GET', CORE)
      return body.items.filter(({ metadata }) => metadata?.deletionTimestamp !== undefined)
    }
    for (const wave of ['first', 'second']) {
      const codes = (await Promise.all(names.map(evict))).map(({ code }) => code)
      // In the second wave the ten are asked to go once more, which costs nothing.
      const counts = [201, 429].map((code) => codes.filter((each) => each === code).length)
      assert.deepEqual(counts, [PODS - MIN_AVAILABLE, MIN_AVAILABLE], `${wave} wave`)
      assert.equal((await going()).length, PODS - MIN_AVAILABLE, `${wave} wave`)
    }
    const { status } = await settledBudget(call, (budget) => {
      const { currentHealthy, disruptedPods = {} } = budget.status ?? {}
      return currentHealthy === MIN_AVAILABLE && Object.keys(disruptedPods).length === 0
    })
    assert.deepEqual([status?.expectedPods, status?.disruptionsAllowed], [PODS, 0])
  },
)
