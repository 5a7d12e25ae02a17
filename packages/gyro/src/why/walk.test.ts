import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer } from '@gyropilot/api-server/testing'
import { ApiClient, discover, memoryTransport } from '@gyropilot/client'
import { ClusterReader } from './cluster-reader.ts'
import { findKind } from './find-kind.ts'
import { reportText } from './report.ts'
import { Walk, holders } from './walk.ts'
import type { Answer } from './walk.ts'

/** An API server without controllers, whose requests by `gyro why` are written down. `refused`: paths with 403, broken: with 500. */
async function world(refused?: RegExp, broken?: RegExp) {
  const api = await createTestServer()
  const asked: string[] = []
  const transport = memoryTransport(async (request) => {
    asked.push(`${request.method} ${request.path}`)
    const code = refused?.test(request.path) ? 403 : broken?.test(request.path) ? 500 : undefined
    const body = {
      kind: 'Status',
      code,
      reason: code === 403 ? 'Forbidden' : 'InternalError',
      message: 'conversion failed',
    }
    if (code !== undefined)
      return { status: code, headers: {}, body: { kind: 'value', value: body } }
    return api.server.handle({
      ...request,
      headers: { ...request.headers, authorization: 'Bearer test-token' },
    })
  })
  const client = new ApiClient({ transport, clock: api.clock, qps: -1 })
  return {
    asked,
    async write(method: string, path: string, body?: unknown) {
      const { status, value } = await api.request(method, path, body, {
        'content-type': 'application/json',
      })
      assert.ok(status < 300, `${method} ${path}: ${JSON.stringify(value)}`)
      return value
    },
    async why(kind: string, name: string, namespace?: string): Promise<Answer> {
      const cluster = new ClusterReader(client, await discover(client))
      const type = findKind(cluster.discovered, kind)
      const object = await cluster.get(type, name, namespace)
      return new Walk(cluster, () => api.clock.nowMs()).from({ type, object })
    },
    text: (answer: Answer) => reportText(answer, api.clock.nowMs(), 400),
  }
}

type World = Awaited<ReturnType<typeof world>>

const maps = '/api/v1/namespaces/default/configmaps'
const owner = ({ metadata }: { metadata: { name: string; uid: string } }) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: metadata.name,
  uid: metadata.uid,
  blockOwnerDeletion: true,
})
const map = ({ write }: World, name: string, metadata: object = {}) =>
  write('POST', maps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata } })

test('an owner deleted in the foreground: down to the finalizer of the dependent’s dependent', async () => {
  const here = await world()
  const top = await map(here, 'top', { finalizers: ['foregroundDeletion'] })
  const middle = await map(here, 'middle', {
    ownerReferences: [owner(top)],
    finalizers: ['foregroundDeletion'],
  })
  await map(here, 'leaf', { ownerReferences: [owner(middle)], finalizers: ['example.com/hold'] })
  await map(here, 'stranger')
  for (const name of ['top', 'middle', 'leaf']) await here.write('DELETE', `${maps}/${name}`)
  const answer = await here.why('cm', 'top', 'default')
  assert.deepEqual(
    holders(answer).map(({ text }) => text),
    ['configmap/leaf in default: finalizer example.com/hold'],
  )
  const text = here.text(answer)
  assert.match(
    text,
    /^configmap\/top in default is being deleted, since [^]*\n {2}- configmap\/middle [^]*\n {6}- configmap\/leaf /,
  )
  assert.match(
    text,
    /\nWhat holds it in the end:\n {2}configmap\/leaf in default: finalizer example.com\/hold\n$/,
  )
  assert.deepEqual(
    here.asked.filter((line) => !line.startsWith('GET ')),
    [],
    'only reads',
  )
})

test('owners in a circle are told once', async () => {
  const here = await world()
  const a = await map(here, 'a', { finalizers: ['foregroundDeletion'] })
  const b = await map(here, 'b', {
    ownerReferences: [owner(a)],
    finalizers: ['foregroundDeletion'],
  })
  await here.write('PUT', `${maps}/a`, {
    ...a,
    metadata: { ...a.metadata, ownerReferences: [owner(b)] },
  })
  for (const name of ['a', 'b']) await here.write('DELETE', `${maps}/${name}`)
  const answer = await here.why('cm', 'a', 'default')
  assert.match(
    here.text(answer),
    /- configmap\/b in default is being deleted[^]*- configmap\/a in default: see above\n/,
  )
  // No other end than the waiting itself.
  assert.match(holders(answer)[0]!.text, /^configmap\/b in default: finalizer foregroundDeletion$/)
})

test('of many dependents some are looked at, and the rest is counted', async () => {
  const here = await world()
  const top = await map(here, 'top', { finalizers: ['foregroundDeletion'] })
  for (const name of ['d1', 'd2', 'd3', 'd4', 'd5'])
    await map(here, name, { ownerReferences: [owner(top)] })
  await here.write('DELETE', `${maps}/top`)
  const answer = await here.why('cm', 'top', 'default')
  assert.equal(answer.reasons[0]!.waitsFor.length, 3)
  assert.equal(answer.reasons[0]!.andMore, 2)
  assert.match(here.text(answer), /\n {2}- and 2 more\n/)
  assert.match(here.text(answer), /its owner configmap\/top is being deleted in the foreground/)
  // Their turn has not come: who takes turns has to act.
  assert.deepEqual(
    holders(answer).map(({ text }) => text),
    ['configmap/top in default: finalizer foregroundDeletion'],
  )
})

async function emptied(here: World): Promise<Answer> {
  await here.write('POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'team' },
  })
  await here.write('POST', '/api/v1/namespaces/team/secrets', {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', finalizers: ['example.com/hold'] },
  })
  await here.write('DELETE', '/api/v1/namespaces/team')
  await here.write('DELETE', '/api/v1/namespaces/team/secrets/s')
  return here.why('ns', 'team')
}

test('a pod that ends holds a namespace; what only waits for its turn does not', async () => {
  const here = await world()
  await here.write('POST', '/api/v1/namespaces', { metadata: { name: 'team' } })
  const inside = '/api/v1/namespaces/team'
  await here.write('POST', `${inside}/serviceaccounts`, { metadata: { name: 'default' } })
  await here.write('POST', `${inside}/secrets`, { metadata: { name: 's' } })
  await here.write('POST', `${inside}/pods`, {
    metadata: { name: 'web' },
    spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] },
  })
  await here.write('DELETE', inside)
  await here.write('DELETE', `${inside}/pods/web`)
  const answer = await here.why('ns', 'team')
  assert.deepEqual(
    holders(answer).map(({ text }) => text),
    ['pod/web in team: its grace period of 30s, 30s left'],
  )
})

test('a namespace: what is left in it, by kind', async () => {
  const here = await world()
  const answer = await emptied(here)
  assert.match(here.text(answer), /left: 1 secrets\n/)
  assert.equal(holders(answer)[0]!.text, 'secret/s in team: finalizer example.com/hold')
  assert.ok(here.asked.length < 200, `${here.asked.length} requests`)
})

test('a kind that cannot be listed holds a namespace; one that this user may not list is only told', async () => {
  const broken = await emptied(await world(undefined, /namespaces\/team\/configmaps/))
  assert.deepEqual(
    broken.reasons.map(({ code, holds }) => [code, holds]),
    [
      ['NamespaceContent', 'finalizer kubernetes (spec.finalizers)'],
      ['KindUnreadable', 'configmaps cannot be listed'],
    ],
  )
  const forbidden = await emptied(await world(/namespaces\/team\/configmaps/))
  assert.deepEqual(
    forbidden.reasons.map(({ code }) => code),
    ['NamespaceContent'],
  )
  assert.ok(
    forbidden.reasons[0]!.evidence.includes(
      'configmaps could not be looked at: this user may not list them',
    ),
  )
})

test('a pod whose node is gone, and what its warnings say', async () => {
  const here = await world()
  const pods = '/api/v1/namespaces/default/pods'
  await here.write('POST', '/api/v1/namespaces/default/serviceaccounts', {
    metadata: { name: 'default' },
  })
  const { metadata } = await here.write('POST', pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web' },
    spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] },
  })
  await here.write('POST', '/api/v1/namespaces/default/events', {
    metadata: { name: 'w', namespace: 'default' },
    involvedObject: { kind: 'Pod', name: 'web', namespace: 'default', uid: metadata.uid },
    type: 'Warning',
    reason: 'FailedKillPod',
    message: 'no answer of the runtime',
    lastTimestamp: '2026-01-02T03:04:05Z',
  })
  await here.write('DELETE', `${pods}/web`)
  const text = here.text(await here.why('pod', 'web', 'default'))
  assert.match(text, /its grace period of 30s, 30s left[^]*its node does not exist any more/)
  assert.match(
    text,
    /note +last warning about it: FailedKillPod: no answer of the runtime \(2026-01-02T03:04:05Z\)\n/,
  )
  assert.doesNotMatch(text, /What holds it in the end/, 'there is no chain')
})

test('an owner is looked up by its uid', async () => {
  const here = await world()
  const top = await map(here, 'top')
  await map(here, 'orphan', { ownerReferences: [{ ...owner(top), uid: 'another' }] })
  await map(here, 'odd', { ownerReferences: [{ ...owner(top), kind: 'Nothing' }] })
  await map(here, 'fine', { ownerReferences: [owner(top)] })
  const codes = async (name: string) =>
    (await here.why('cm', name, 'default')).reasons.map(({ holds }) => holds)
  assert.deepEqual(await codes('orphan'), [
    'its owner ConfigMap top (uid another) does not exist any more',
  ])
  assert.deepEqual(await codes('odd'), [
    'its owner Nothing top is of a kind (v1) that the server does not have',
  ])
  assert.deepEqual(await codes('fine'), [])
})

test('an owner with a namespace of an object without one is not looked for', async () => {
  const here = await world()
  const top = await map(here, 'top')
  await here.write('POST', '/api/v1/namespaces', {
    metadata: { name: 'odd', ownerReferences: [owner(top)] },
  })
  const { reasons } = await here.why('namespace', 'odd')
  assert.match(reasons[0]!.holds, /of a kind with namespaces/)
  assert.doesNotMatch(here.asked.join(), /configmaps\/top/)
})

test('a webhook: its service is missing, then has no ready endpoints, then answers', async () => {
  const here = await world()
  await here.write(
    'POST',
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    {
      metadata: { name: 'guard' },
      webhooks: [
        {
          name: 'guard.example.com',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          clientConfig: { service: { namespace: 'default', name: 'guard' } },
          rules: [
            {
              apiGroups: [''],
              apiVersions: ['v1'],
              operations: ['DELETE'],
              resources: ['configmaps'],
            },
          ],
        },
      ],
    },
  )
  await map(here, 'c')
  const said = async () =>
    (await here.why('cm', 'c', 'default')).reasons.flatMap(({ evidence }) => evidence)
  assert.match((await said())[0]!, /its service default\/guard does not exist/)
  await here.write('POST', '/api/v1/namespaces/default/services', {
    metadata: { name: 'guard' },
    spec: { ports: [{ port: 443 }] },
  })
  assert.match((await said())[0]!, /its service default\/guard has no ready endpoints/)
  await here.write('POST', '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
    metadata: { name: 'guard-1', labels: { 'kubernetes.io/service-name': 'guard' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }],
  })
  assert.deepEqual(await said(), [])
})

test('a claim is read with the pods that use it, an unknown finalizer with workloads like it', async () => {
  const here = await world()
  const inside = '/api/v1/namespaces/default'
  await here.write('POST', `${inside}/serviceaccounts`, { metadata: { name: 'default' } })
  await here.write('POST', `${inside}/persistentvolumeclaims`, {
    metadata: {
      name: 'data',
      finalizers: ['kubernetes.io/pvc-protection', 'painter.io/x', 'foregroundDeletion'],
    },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  })
  await here.write('POST', `${inside}/pods`, {
    metadata: { name: 'user' },
    spec: {
      nodeName: 'node-1',
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }],
    },
  })
  const template = {
    metadata: { labels: { app: 'p' } },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  }
  await here.write('POST', '/apis/apps/v1/namespaces/default/deployments', {
    metadata: { name: 'painter' },
    spec: { selector: { matchLabels: { app: 'p' } }, template },
  })
  await here.write('DELETE', `${inside}/persistentvolumeclaims/data`)
  const { reasons } = await here.why('pvc', 'data', 'default')
  const of = (holds: string) => reasons.find((reason) => reason.holds === `finalizer ${holds}`)!
  assert.deepEqual(
    of('kubernetes.io/pvc-protection').waitsFor.map(({ name, state }) => [name, state]),
    [['pod/user', 'present']],
  )
  assert.ok(of('painter.io/x').evidence.includes('deployment default/painter: 0 of 1 ready'))
  assert.match(of('foregroundDeletion').evidence[0]!, /no dependent that blocks/)
})

test('a user of one namespace is not told that nothing runs, and that webhooks cannot be seen', async () => {
  const here = await world(
    /^\/apis\/(?:apps|coordination|admissionregistration)[^/]*\/v1\/[^/?]+(?:\?|$)/,
  )
  await map(here, 'held', { finalizers: ['painter.io/x'] })
  await here.write('DELETE', `${maps}/held`)
  const answer = await here.why('configmap', 'held', 'default')
  const [reason] = answer.reasons
  assert.match(reason!.remover!, /cannot be seen/)
  assert.doesNotMatch(reason!.release, /kubectl/)
  const refused = 'could not be looked at: this user may not list them'
  for (const resource of ['deployments.apps', 'leases.coordination.k8s.io'])
    assert.ok(reason!.evidence.includes(`${resource} ${refused}`), resource)
  assert.equal(answer.notes.filter((note) => note.includes(refused)).length, 2)
})
