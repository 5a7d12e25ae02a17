import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeNamespace, PATCH, pod, startServer } from '../../bootstrap/fixtures.ts'
import type { TestServer } from '../../bootstrap/fixtures.ts'
import type { Draft } from '../../registry/kind-rules.ts'

const ENFORCE = 'kubernetes.io/enforce-mountable-secrets'
const NOT_REFERENCED = 'is not allowed because service account m does not reference that secret'
const env = [{ name: 'E', valueFrom: { secretKeyRef: { name: 's1', key: 'k' } } }]
const envFrom = [{ secretRef: { name: 's1' } }]
const container = (name: string, rest: Draft = {}): Draft => ({ name, image: 'i', ...rest })
const volumes = [{ name: 'v', secret: { secretName: 's1' } }]
const inVolume = 'volume with secret.secretName="s1"'

/** As kube-apiserver 1.36.2 answered. Empty: it is made. */
const ANSWERS: readonly (readonly [Draft, string])[] = [
  [{ volumes: [{ name: 'v', projected: { sources: [{ secret: { name: 's1' } }] } }] }, ''],
  [{ volumes: [{ name: 'v', csi: { driver: 'd', nodePublishSecretRef: { name: 's1' } } }] }, ''],
  [{ volumes }, inVolume],
  [
    { containers: [container('c', { env })] },
    'container c with envVar E referencing secret.secretName="s1"',
  ],
  [
    { containers: [container('c', { envFrom })] },
    'container c with envFrom referencing secret.secretName="s1"',
  ],
  [
    { initContainers: [container('ci', { env })] },
    'init container ci with envVar E referencing secret.secretName="s1"',
  ],
  [
    { initContainers: [container('ci', { envFrom })], containers: [container('c', { env })] },
    'init container ci with envFrom referencing secret.secretName="s1"',
  ],
  [{ volumes, initContainers: [container('ci', { env })] }, inVolume],
]

/** With a service account `m` that lists secret `listed`. */
async function start(enforced: string): Promise<{ server: TestServer; ns: string }> {
  const server = await startServer()
  const ns = await makeNamespace(server, 'a')
  await server.call('POST', `${ns}/serviceaccounts`, {
    metadata: { name: 'm', annotations: { [ENFORCE]: enforced } },
    secrets: [{ name: 'listed' }],
    imagePullSecrets: [{ name: 'pulled' }],
  })
  return { server, ns }
}

describe('an account whose secrets alone may be used', () => {
  test('has none in volumes and variables that it does not list', async (t) => {
    const { server, ns } = await start('true')
    t.after(() => server.server.stop())
    for (const [spec, use] of ANSWERS) {
      const body = pod('p', { containers: [container('c')], serviceAccountName: 'm', ...spec })
      const answer = await server.call('POST', `${ns}/pods?dryRun=All`, body)
      const { message = '' } = answer.body
      assert.equal(message, use === '' ? '' : `pods "p" is forbidden: ${use} ${NOT_REFERENCED}`)
      const listed = JSON.parse(JSON.stringify(body).replaceAll('"s1"', '"listed"')) as Draft
      assert.equal((await server.call('POST', `${ns}/pods?dryRun=All`, listed)).status, 201)
    }
  })

  test('has no other secrets for images', async (t) => {
    const { server, ns } = await start('true')
    t.after(() => server.server.stop())
    const imagePullSecrets = [{ name: 'pulled' }, { name: 'listed' }]
    const { body } = await server.call(
      'POST',
      `${ns}/pods`,
      pod('p', { serviceAccountName: 'm', imagePullSecrets }),
    )
    assert.equal(
      body.message,
      'pods "p" is forbidden: imagePullSecrets[1].name="listed" is not allowed because service account m does not reference that imagePullSecret',
    )
  })

  test('is one whose annotation is true in any of Go’s ways', async () => {
    for (const [enforced, status] of [
      ['1', 403],
      ['T', 403],
      ['TRUE', 403],
      ['yes', 201],
      ['false', 201],
    ] as const) {
      const { server, ns } = await start(enforced)
      const body = pod('p', { serviceAccountName: 'm', volumes })
      assert.equal((await server.call('POST', `${ns}/pods`, body)).status, status, enforced)
      await server.server.stop()
    }
  })

  test('of an ephemeral container its own variables are judged, nothing that the pod has already', async (t) => {
    const { server, ns } = await start('false')
    t.after(() => server.server.stop())
    const old = { volumes, containers: [container('c', { env })], serviceAccountName: 'm' }
    await server.call('POST', `${ns}/pods`, pod('p', old))
    const annotations = { [ENFORCE]: 'true' }
    await server.call('PATCH', `${ns}/serviceaccounts/m`, { metadata: { annotations } }, PATCH)
    const debug = async (rest: Draft = {}): Promise<unknown> => {
      const { status, body } = await server.call(
        'PATCH',
        `${ns}/pods/p/ephemeralcontainers?dryRun=All`,
        { spec: { ephemeralContainers: [container('dbg', rest)] } },
        { 'content-type': 'application/strategic-merge-patch+json' },
      )
      return [status, body.message]
    }
    assert.deepEqual(await debug(), [200, undefined])
    const use = 'ephemeral container dbg with envFrom referencing secret.secretName="s1"'
    assert.deepEqual(await debug({ envFrom }), [500, `${use} ${NOT_REFERENCED}`])
  })
})
