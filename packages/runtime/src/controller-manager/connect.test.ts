import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeHost, RecordingLogger } from '@gyropilot/foundation/testing'
import { testClock } from '../testing/index.ts'
import { connect } from './connect.ts'

const kubeconfig = (server: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: '' } }],
    'current-context': 'x',
  })

const POD = '/var/run/secrets/kubernetes.io/serviceaccount'
const files = {
  '/flag': kubeconfig('http://127.0.0.1:1'),
  '/env': kubeconfig('http://127.0.0.1:2'),
  '/home/alice/.kube/config': kubeconfig('http://127.0.0.1:3'),
}
const inPod = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: '4' }
const podFiles = { [`${POD}/token`]: 't', [`${POD}/namespace`]: 'operators\n' }

const CASES: readonly (readonly [string, string | undefined, object, object, string])[] = [
  ['the flag', '/flag', { KUBECONFIG: '/env', ...inPod }, podFiles, '127.0.0.1:1'],
  ['KUBECONFIG', undefined, { KUBECONFIG: '/env', ...inPod }, podFiles, '127.0.0.1:2'],
  ['the pod', undefined, inPod, podFiles, '127.0.0.1:4'],
  ['the home folder', undefined, {}, {}, '127.0.0.1:3'],
  ['the home folder in a pod without a token', undefined, inPod, {}, '127.0.0.1:3'],
]

for (const [what, flag, variables, more, address] of CASES) {
  test(`configuration comes from ${what}`, async () => {
    const host = new FakeHost({ ...files, ...more }, { ...variables })
    const connection = await connect({ host, clock: testClock(), kubeconfig: flag })
    // Nobody listens there: what the refusal names is the address that was chosen.
    const refused = await connection.client.raw({ method: 'GET', path: '/' }).catch(String)
    assert.ok(String(refused).includes(address), String(refused))
    assert.equal(
      connection.namespace,
      'token' in more || more === podFiles ? 'operators' : undefined,
    )
    await connection.close()
  })
}

test('a pod without a token and without a home folder is told why it is no pod', async () => {
  const logger = new RecordingLogger()
  const host = new FakeHost({}, { ...inPod })
  await assert.rejects(connect({ host, clock: testClock(), logger }), /no configuration/)
  const [line] = logger.lines
  assert.equal(line?.message, 'unable to load in-cluster config')
  assert.match(String(line?.error), /token: no such file/)
})
