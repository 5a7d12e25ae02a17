// The two halves of a quota at once, over real HTTP: the server charges requests while the controller counts objects.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodList, ResourceQuota } from '@gyropilot/api'
import { startCluster } from '../recordings/in-process-cluster.ts'
import { caller } from './caller.ts'

const REQUESTS = 200
const LIMIT = 37
const CORE = '/api/v1/namespaces/default'

test('no over-commit under 200 parallel creates', { timeout: 120_000 }, async (t) => {
  const { cluster, server, stop } = await startCluster({ controllers: true })
  const { call, close } = caller(server, cluster.administratorToken, REQUESTS)
  t.after(async () => {
    close()
    await stop()
  })
  const used = async (): Promise<ResourceQuota['status']> =>
    (await call<ResourceQuota>('GET', `${CORE}/resourcequotas/q`)).body.status
  const until = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
    const deadlineMs = performance.now() + 30_000
    while (!(await isSo())) {
      assert.ok(performance.now() < deadlineMs, `${what}: ${JSON.stringify(await used())}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const quota = { metadata: { name: 'q' }, spec: { hard: { pods: LIMIT, 'requests.cpu': '100' } } }
  assert.equal((await call('POST', `${CORE}/resourcequotas`, quota)).code, 201)
  await until('counted', async () => (await used())?.used?.['pods'] === '0')

  const create = (name: string) =>
    call('POST', `${CORE}/pods`, {
      metadata: { name },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '10m' } } }],
      },
    })
  for (const wave of ['first', 'second']) {
    const names = Array.from({ length: REQUESTS }, (_, index) => `${wave}-${index}`)
    const codes = (await Promise.all(names.map(create))).map(({ code }) => code)
    const counts = [201, 403].map((code) => codes.filter((each) => each === code).length)
    assert.deepEqual(counts, [LIMIT, REQUESTS - LIMIT], `${wave} wave`)
    const { body } = await call<PodList>('GET', `${CORE}/pods`)
    assert.equal(body.items.length, LIMIT)
    assert.deepEqual((await used())?.used, { pods: String(LIMIT), 'requests.cpu': '370m' })
    // What goes makes room again: by the controller, which the server hears of.
    const gone = body.items.map(({ metadata }) =>
      call('DELETE', `${CORE}/pods/${metadata?.name}?gracePeriodSeconds=0`),
    )
    await Promise.all(gone)
    await until('counted down', async () => (await used())?.used?.['pods'] === '0')
  }
})
