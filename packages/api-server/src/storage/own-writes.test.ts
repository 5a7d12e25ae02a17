import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger, VirtualClock } from '@gyropilot/foundation'
import type { Logger } from '@gyropilot/foundation'
import { makeNamespace, START_MS, startServer } from '../bootstrap/fixtures.ts'
import { turn } from '../testing/test-server.ts'
import { RevisionLog } from './revision-log.ts'
import type { Journal } from './revision-log.ts'

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'
const SCHEMAS = '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas'
const ADDRESSES = '/apis/networking.k8s.io/v1/ipaddresses'

test('Given a disk that is full for minutes, then the server goes on, says what it could not write, and makes up for it when there is room.', async (t) => {
  let isFull = false
  const journal: Journal = {
    write() {
      if (isFull) throw new Error('database or disk is full')
    },
    close() {},
  }
  const clock = new VirtualClock({ startMs: START_MS, settle: turn })
  const store = new RevisionLog(clock, journal)
  const said = new Set<string>()
  const logger: Logger = {
    ...silentLogger,
    error: (_, message) => void said.add(message),
    named: () => logger,
    with: () => logger,
  }
  const world = await startServer({ clock, store, logger, hostname: 'vm' })
  t.after(() => world.server.stop())
  const { call } = world
  const namespace = await makeNamespace(world, 'a')
  const involvedObject = { kind: 'Pod', namespace: 'a', name: 'p' }
  await call('POST', `${namespace}/events`, { metadata: { name: 'e' }, involvedObject })
  await clock.advance(3_600_000 - 30_000)
  const service = {
    metadata: { name: 's' },
    spec: { clusterIP: '10.0.12.7', ports: [{ port: 80 }] },
  }
  await call('POST', `${namespace}/services`, service)
  await call('DELETE', `${ADDRESSES}/10.0.12.7`)
  await call('DELETE', '/apis/networking.k8s.io/v1/servicecidrs/kubernetes')
  store.commit({ collection: 'namespaces', key: 'kube-public' }, () => undefined)
  await call('POST', LEASES, {
    metadata: { name: 'gone', labels: { 'apiserver.kubernetes.io/identity': 'kube-apiserver' } },
    spec: {},
  })
  const fills = store.onCommit(() => {
    isFull = true
  })
  const priorityLevelConfiguration = { name: 'slow' }
  const spec = { matchingPrecedence: 9000, priorityLevelConfiguration }
  assert.equal((await call('POST', SCHEMAS, { metadata: { name: 'mine' }, spec })).status, 201)
  fills.stop()
  const refused = await call('POST', `${namespace}/configmaps`, { metadata: { name: 'c' } })
  assert.deepEqual(
    [refused.status, refused.body.message],
    [500, 'Internal error occurred: database or disk is full'],
  )
  await clock.advance(200_000)
  assert.deepEqual([...said].toSorted(), [
    'An IPAddress could not be made',
    'An event of the repair could not be written',
    'Deleting expired Leases of servers failed',
    'Expired objects could not be deleted, will retry',
    'Keeping the ServiceCIDR of the server failed',
    'Keeping the namespaces of the server failed',
    'Renewing the Lease of the server failed',
    'Service allocation was found in disorder',
    'The status of FlowSchemas could not be written',
    'request failed',
  ])

  isFull = false
  await clock.advance(3_600_000)
  const found = async (path: string): Promise<number> => (await call('GET', path)).status
  assert.equal(await found('/api/v1/namespaces/kube-public'), 200)
  assert.equal(await found(`${namespace}/events/e`), 404)
  assert.equal(await found(`${ADDRESSES}/10.0.12.7`), 200)
  assert.equal(await found(`${LEASES}/gone`), 404)
  assert.equal(await found('/apis/networking.k8s.io/v1/servicecidrs/kubernetes'), 200)
  const { body } = await call('GET', `${SCHEMAS}/mine`)
  assert.equal(body.status.conditions[0].type, 'Dangling')
})
