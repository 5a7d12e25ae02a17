import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer } from '../../testing/test-server.ts'

const NEW = '/apis/events.k8s.io/v1/namespaces/default/events'
const CORE = '/api/v1/namespaces/default/events'

/** Which of the two versions knows the field: as kube-apiserver 1.36 answered. */
const SELECTORS: readonly (readonly [string, 'both' | 'events.k8s.io' | 'core' | 'neither'])[] = [
  ...['kind=Pod', 'namespace=default', 'name=p1', 'uid=u1', 'apiVersion=v1'].flatMap(
    (term) =>
      [
        [`regarding.${term}`, 'events.k8s.io'],
        [`involvedObject.${term}`, 'core'],
      ] as const,
  ),
  ['regarding.fieldPath=spec.x', 'events.k8s.io'],
  ['involvedObject.resourceVersion=12', 'core'],
  ['reportingController=k8s.io/ctl', 'events.k8s.io'],
  ['reportingComponent=k8s.io/ctl', 'core'],
  ['source=k8s.io/ctl', 'core'],
  ['reason=R', 'both'],
  ['type=Normal', 'both'],
  ['metadata.name=e1', 'both'],
  ['metadata.namespace=default', 'both'],
  ['reportingInstance=inst', 'neither'],
  ['action=A', 'neither'],
  ['note=n', 'neither'],
  ['deprecatedSource.component=x', 'neither'],
]

test('Events are selected by the field names of the version that is asked, in lists and watches', async () => {
  const server = await createTestServer()
  const from = server.server.store.revision
  const created = await server.request('POST', NEW, {
    metadata: { name: 'e1' },
    regarding: {
      kind: 'Pod',
      namespace: 'default',
      name: 'p1',
      uid: 'u1',
      apiVersion: 'v1',
      fieldPath: 'spec.x',
      resourceVersion: '12',
    },
    reason: 'R',
    action: 'A',
    type: 'Normal',
    eventTime: '2026-11-22T10:00:00.000000Z',
    reportingController: 'k8s.io/ctl',
    reportingInstance: 'inst',
    note: 'n',
  })
  assert.equal(created.status, 201, created.value.message)
  for (const [selector, knownBy] of SELECTORS) {
    const field = selector.slice(0, selector.indexOf('='))
    for (const [path, name] of [
      [NEW, 'events.k8s.io'],
      [CORE, 'core'],
    ] as const) {
      const query = `fieldSelector=${encodeURIComponent(selector)}`
      const { status, value } = await server.request('GET', `${path}?${query}`)
      if (knownBy !== 'both' && knownBy !== name) {
        const refusal = `field label not supported: ${field}`
        assert.deepEqual([status, value.message], [400, refusal], `${name} ${selector}`)
        continue
      }
      assert.equal(value.items?.length, 1, `${name} ${selector}`)
      const watch = await server.watch(`${path}?watch=1&resourceVersion=${from}&${query}`)
      assert.equal(watch.events.length, 1, `${name} ${selector} watched`)
      const others = await server.request('GET', `${path}?${query.replace('%3D', '!%3D')}`)
      assert.deepEqual(others.value.items, [], `${name} ${selector} negated`)
    }
  }
})
