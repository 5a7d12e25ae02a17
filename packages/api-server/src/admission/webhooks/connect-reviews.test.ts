import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeNamespace, startServer } from '../../bootstrap/fixtures.ts'
import type { TestServer } from '../../bootstrap/fixtures.ts'
import type { AnyValue } from '../../testing/test-server.ts'
import { askedAbout, review, startWebhook } from '../../testing/webhook-server.ts'
import type { WebhookServer } from '../../testing/webhook-server.ts'

const ns = '/api/v1/namespaces/a'
const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
let hook: WebhookServer
let server: TestServer

before(async () => {
  hook = await startWebhook((body: AnyValue) =>
    review(body, { allowed: false, status: { message: 'no' } }),
  )
  server = await startServer()
  await makeNamespace(server, 'a')
  await server.call('POST', configurations, {
    metadata: { name: 'v' },
    webhooks: [askedAbout(hook, { resources: ['*/*'], operations: ['CONNECT'] })],
  })
})
after(async () => {
  await hook.stop()
  await server.server.stop()
})

/** Recorded from kube-apiserver 1.36. */
for (const [method, path, object] of [
  [
    'POST',
    `${ns}/pods/p/exec?container=c&command=ls&command=-l&stdout=true&tty=1`,
    { kind: 'PodExecOptions', stdout: true, tty: true, container: 'c', command: ['ls', '-l'] },
  ],
  [
    'POST',
    `${ns}/pods/p/exec?stdin=banana&stderr=0`,
    { kind: 'PodExecOptions', stdin: true, command: null },
  ],
  [
    'POST',
    `${ns}/pods/p/attach?container=c&stdin=true`,
    { kind: 'PodAttachOptions', stdin: true, container: 'c' },
  ],
  ['POST', `${ns}/pods/p/portforward?ports=80`, { kind: 'PodPortForwardOptions', ports: [80] }],
  ['POST', `${ns}/pods/p/portforward`, { kind: 'PodPortForwardOptions' }],
  ['GET', `${ns}/pods/p/proxy/a/b?c=d`, { kind: 'PodProxyOptions', path: '/a/b' }],
  ['GET', `${ns}/pods/p/proxy?path=zz`, { kind: 'PodProxyOptions' }],
  ['PUT', `${ns}/services/s/proxy/a`, { kind: 'ServiceProxyOptions', path: '/a' }],
  ['GET', '/api/v1/nodes/n/proxy/metrics/', { kind: 'NodeProxyOptions', path: '/metrics/' }],
] as const)
  test(`${method} ${path} is reviewed with its options, before anything else is judged`, async () => {
    const before = hook.calls.length
    const { status, body } = await server.call(method, path)
    assert.equal(body.message, 'admission webhook "check.example.com" denied the request: no')
    assert.equal(status, 400)
    const { request } = hook.calls[before]!.body
    assert.deepEqual(request.object, { apiVersion: 'v1', ...object })
    assert.equal(request.kind.kind, object.kind)
    assert.equal(request.oldObject, null)
  })
