import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeNamespace, pod, startServer } from '../../bootstrap/fixtures.ts'

type Toleration = Readonly<Record<string, unknown>>

const SECONDS = 'tolerationSeconds'
const ofKey = (key: string, rest: Toleration = {}): Toleration => ({ key, ...rest })
const existing = (key: string, rest: Toleration = {}): Toleration =>
  ofKey(key, { operator: 'Exists', ...rest })
const evicted = (seconds?: number): Toleration =>
  existing('k', { effect: 'NoExecute', ...(seconds === undefined ? {} : { [SECONDS]: seconds }) })
const UNBOUND = { operator: 'Exists' }
const EQUAL = ofKey('k', { operator: 'Equal', value: 'v' })
const UNSAID = ofKey('k', { value: 'v' })
const BY_DEFAULT = ['not-ready', 'unreachable'].map((what) =>
  existing(`node.kubernetes.io/${what}`, { effect: 'NoExecute', [SECONDS]: 300 }),
)

/** Of a pod, of its class, and what comes of them: as kube-apiserver 1.36.2 answered. */
const MERGED: readonly (readonly Toleration[])[][] = [
  [[ofKey('k', { operator: 'Equal', value: 'v', effect: 'NoSchedule' })], [UNBOUND], [UNBOUND]],
  [[UNBOUND], [ofKey('k', { value: 'v', effect: 'NoSchedule' })], [UNBOUND]],
  [[existing('k', { effect: 'NoSchedule' })], [existing('k')], [...BY_DEFAULT, existing('k')]],
  [[evicted(10)], [evicted(20)], [...BY_DEFAULT, evicted(20)]],
  [[evicted(20)], [evicted(10)], [evicted(20), ...BY_DEFAULT]],
  [[evicted()], [evicted(10)], [evicted(), ...BY_DEFAULT]],
  [[evicted(10)], [evicted()], [...BY_DEFAULT, evicted()]],
  [[existing('k')], [evicted(10)], [existing('k'), ...BY_DEFAULT]],
  [[UNSAID, UNSAID], [], [UNSAID, ...BY_DEFAULT]],
  [[UNSAID], [EQUAL], [UNSAID, ...BY_DEFAULT]],
  [[EQUAL], [UNSAID], [...BY_DEFAULT, UNSAID]],
  [
    [{ ...UNSAID, effect: 'NoSchedule' }],
    [EQUAL],
    [{ ...UNSAID, effect: 'NoSchedule' }, ...BY_DEFAULT, EQUAL],
  ],
  [
    [existing('a'), UNSAID, existing('b')],
    [existing('k'), existing('c')],
    [existing('a'), existing('b'), ...BY_DEFAULT, existing('k'), existing('c')],
  ],
  [[], [{ ...UNBOUND, effect: 'NoExecute' }], [{ ...UNBOUND, effect: 'NoExecute' }]],
  [
    [],
    [{ ...UNBOUND, effect: 'NoExecute', [SECONDS]: 200 }],
    [...BY_DEFAULT, { ...UNBOUND, effect: 'NoExecute', [SECONDS]: 200 }],
  ],
]

describe('RuntimeClass', () => {
  test('of the tolerations of a pod and of its class those stay that no other one covers', async () => {
    const server = await startServer()
    const ns = await makeNamespace(server, 'a')
    for (const [index, [ofPod, tolerations, expected]] of MERGED.entries()) {
      const runtimeClassName = `class-${index}`
      const runtimeClass = { metadata: { name: runtimeClassName }, handler: 'h' }
      await server.call('POST', '/apis/node.k8s.io/v1/runtimeclasses', {
        ...runtimeClass,
        scheduling: { tolerations },
      })
      const spec = { runtimeClassName, tolerations: ofPod }
      const { body } = await server.call('POST', `${ns}/pods?dryRun=All`, pod('p', spec))
      assert.deepEqual(body.spec.tolerations, expected, `${index}`)
    }
    await server.server.stop()
  })

  test('a class that says nothing of scheduling leaves tolerations as they are, twice the same too', async () => {
    const server = await startServer()
    const ns = await makeNamespace(server, 'a')
    await server.call('POST', '/apis/node.k8s.io/v1/runtimeclasses', {
      metadata: { name: 'plain' },
      handler: 'h',
    })
    const spec = { runtimeClassName: 'plain', tolerations: [UNSAID, UNSAID] }
    const { body } = await server.call('POST', `${ns}/pods?dryRun=All`, pod('p', spec))
    assert.deepEqual(body.spec.tolerations, [UNSAID, UNSAID, ...BY_DEFAULT])
    await server.server.stop()
  })
})
