import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OwnerReference, Pod } from '@gyropilot/api'
import { leanPod, leanSpecText } from './lean-pod.ts'

const token = {
  name: 'kube-api-access-x7k2p',
  projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3607 } }] },
}
const tokenMount = {
  name: token.name,
  readOnly: true,
  mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
}
const data = { name: 'data', persistentVolumeClaim: { claimName: 'disk' } }
const dataMount = { name: 'data', mountPath: '/data' }

function owned(kind?: string): { ownerReferences?: OwnerReference[] } {
  if (kind === undefined) return {}
  return {
    ownerReferences: [{ apiVersion: 'apps/v1', kind, name: 'o', uid: 'u', controller: true }],
  }
}

function pod(spec: Partial<NonNullable<Pod['spec']>>, kind: string | undefined): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', ...owned(kind) },
    spec: { containers: [], ...spec },
    status: { phase: 'Running' },
  }
}

test('pods of one template are alike but for their token volumes, which are left out with their mounts', () => {
  const whole = pod(
    {
      volumes: [data, token],
      initContainers: [{ name: 'i', volumeMounts: [tokenMount] }],
      containers: [
        { name: 'a', image: 'a', volumeMounts: [dataMount, tokenMount], tty: true },
        { name: 'b' },
      ],
    },
    'ReplicaSet',
  )
  const before = structuredClone(whole)
  assert.deepEqual(leanPod(whole), {
    ...whole,
    spec: {
      volumes: [data],
      containers: [{ name: 'a', image: 'a', volumeMounts: [dataMount], tty: true }, { name: 'b' }],
      initContainers: [{ name: 'i', volumeMounts: [] }],
    },
  })
  assert.deepEqual(whole, before, 'what it is given stays as it is')
  assert.deepEqual(Object.keys(leanPod(whole)), Object.keys(whole))
})

test('of the statuses of containers their IDs and since when they run are left out, and what has ended stays', () => {
  const one = { name: 'a', ready: true, restartCount: 0, image: 'a', imageID: 'sha' }
  const ended = { exitCode: 3, finishedAt: '2026-01-01T00:00:00Z', containerID: 'old' }
  const whole: Pod = {
    ...pod({}, 'Job'),
    status: {
      phase: 'Running',
      startTime: '2026-01-01T00:00:00Z',
      containerStatuses: [
        {
          ...one,
          containerID: 'x',
          state: { running: { startedAt: '2026-01-01T00:00:02Z' } },
          lastState: { terminated: ended },
        },
        { ...one, name: 'b', containerID: 'y', state: { terminated: ended } },
      ],
      initContainerStatuses: [{ ...one, name: 'i', containerID: 'z', state: { waiting: {} } }],
    },
  }
  const before = structuredClone(whole)
  assert.deepEqual(leanPod(whole).status, {
    phase: 'Running',
    startTime: '2026-01-01T00:00:00Z',
    containerStatuses: [
      { ...one, state: { running: {} }, lastState: { terminated: ended } },
      { ...one, name: 'b', state: { terminated: ended } },
    ],
    initContainerStatuses: [{ ...one, name: 'i', state: { waiting: {} } }],
  })
  assert.deepEqual(whole, before, 'what it is given stays as it is')
  assert.deepEqual(Object.keys(leanPod(whole)), Object.keys(whole))
  const lean = leanPod(whole)
  assert.equal(leanPod(lean), lean)
  const kept = { ...whole, ...pod({}, 'StatefulSet'), status: whole.status }
  assert.equal(leanPod(kept), kept)
})

for (const list of ['containerStatuses', 'initContainerStatuses'] as const)
  test(`one container that has something of its own is enough: ${list}`, () => {
    const one = { name: 'a', ready: true, restartCount: 0, image: 'a', imageID: 'sha' }
    const running = { ...one, state: { running: { startedAt: '2026-01-01T00:00:02Z' } } }
    const whole: Pod = { ...pod({}, 'Job'), status: { [list]: [one, running] } }
    assert.deepEqual(leanPod(whole).status, { [list]: [one, { ...one, state: { running: {} } }] })
  })

test('what is lean is returned as it is', () => {
  const lean = leanPod(pod({ volumes: [token] }, 'Job'))
  assert.equal(leanPod(lean), lean)
  const without = pod({}, 'ReplicaSet')
  assert.equal(leanPod(without), without)
})

test('pods that are written back whole are kept whole: of StatefulSets, and what a StatefulSet can adopt', () => {
  for (const kind of ['StatefulSet', undefined]) {
    const whole = pod({ volumes: [token] }, kind)
    assert.equal(leanPod(whole), whole)
  }
})

test('volumes that people named so, or tokens that they ask for themselves, are theirs', () => {
  for (const volume of [
    { name: 'kube-api-access-x7k2p', configMap: { name: 'c' } },
    { name: 'kube-api-access-x7k2p', projected: { sources: [{ configMap: { name: 'c' } }] } },
    { name: 'kube-api-access-x7k2p', projected: {} },
    { name: 'my-kube-api-access-x7k2p', projected: token.projected },
    { name: 'kube-api-access-x7k2p0', projected: token.projected },
    { name: 'vault-token', projected: token.projected },
  ]) {
    const whole = pod({ volumes: [volume] }, 'ReplicaSet')
    assert.equal(leanPod(whole), whole)
  }
})

test('a mount of the token elsewhere, or of something else there, stays', () => {
  const elsewhere = { ...tokenMount, mountPath: '/token' }
  const other = { ...tokenMount, name: 'data' }
  const volumeMounts = [elsewhere, tokenMount, other]
  const whole = pod({ volumes: [token], containers: [{ name: 'a', volumeMounts }] }, 'DaemonSet')
  assert.deepEqual(leanPod(whole).spec?.containers[0]?.volumeMounts, [elsewhere, other])
})

/** As a server writes the pod's spec, with the name of the volume of its token. */
function written(name: string, more: object = {}): string {
  const text = JSON.stringify({
    volumes: [data, token],
    containers: [{ name: 'a', image: 'a', volumeMounts: [dataMount, tokenMount] }],
    ...more,
  })
  return text.replaceAll(token.name, name)
}

test('of specs with one text leanPod makes equal ones', () => {
  const metadata = { name: 'p', ...owned('ReplicaSet') }
  const [one, other] = ['kube-api-access-aaaaa', 'kube-api-access-bbbbb'].map((name) =>
    written(name),
  )
  assert.notEqual(one, other)
  assert.deepEqual(leanSpecText(metadata, one!), leanSpecText(metadata, other!))
  const [spec, otherSpec] = [one!, other!].map(
    (text) => leanPod({ ...pod({}, 'ReplicaSet'), spec: JSON.parse(text) }).spec,
  )
  assert.deepEqual(spec, otherSpec)
  const differs = written('kube-api-access-aaaaa', { hostname: 'h' })
  assert.notEqual(leanSpecText(metadata, differs)?.text, leanSpecText(metadata, one!)?.text)
})

test('the text of a spec without a token is itself, and one that leanPod leaves as it is has none', () => {
  const bare = JSON.stringify({ containers: [], volumes: [data] })
  assert.deepEqual(leanSpecText({ name: 'p', ...owned('Job') }, bare), { text: bare })
  for (const kind of [undefined, 'StatefulSet'])
    assert.equal(leanSpecText({ name: 'p', ...owned(kind) }, bare), undefined)
})

for (const [title, text] of [
  [
    'a volume that only has such a name',
    JSON.stringify({ volumes: [{ name: token.name, emptyDir: {} }] }),
  ],
  ['a longer name', written('kube-api-access-aaaaa-more')],
  [
    'another projection first',
    JSON.stringify({
      volumes: [{ name: token.name, projected: { sources: [{ configMap: {} }] } }],
    }),
  ],
] as const) {
  test(`${title} is taken for what it is`, () => {
    assert.deepEqual(leanSpecText({ name: 'p', ...owned('ReplicaSet') }, text), { text })
  })
}

test("the name of the node is a pod's own, and a node that is chosen makes another text", () => {
  const metadata = { name: 'p', ...owned('ReplicaSet') }
  const textOf = (more: object) =>
    leanSpecText(metadata, JSON.stringify({ containers: [], serviceAccount: 'builder', ...more }))
  const [one, other, none] = [{ nodeName: 'n1' }, { nodeName: 'another' }, {}].map(textOf)
  assert.deepEqual(
    [one?.own, other?.own, none?.own],
    [{ nodeName: 'n1' }, { nodeName: 'another' }, undefined],
  )
  assert.equal(one?.text, other?.text)
  assert.equal(one?.text, '{"containers":[],"serviceAccount":"builder","nodeName":""}')
  assert.notEqual(one?.text, none?.text)
  const mounted = textOf({ automountServiceAccountToken: false, nodeName: 'n1' })
  assert.deepEqual(mounted?.own, { nodeName: 'n1' })
})

test('a selector by that word is no node', () => {
  const metadata = { name: 'p', ...owned('ReplicaSet') }
  for (const spec of [
    { nodeSelector: { nodeName: 'x', serviceAccount: 'y' }, serviceAccount: 'a' },
    { nodeSelector: { serviceAccount: 'y', nodeNames: 'x' }, serviceAccount: 'a', nodeName: 'n' },
  ]) {
    const text = JSON.stringify(spec)
    assert.deepEqual(leanSpecText(metadata, text), { text })
  }
})
