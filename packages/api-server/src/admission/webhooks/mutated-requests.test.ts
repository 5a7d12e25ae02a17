import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeNamespace, pod, startServer } from '../../bootstrap/fixtures.ts'
import type { TestServer } from '../../bootstrap/fixtures.ts'
import {
  DEFINITIONS,
  STRING,
  THINGS,
  definition,
  object,
  served,
  thing,
} from '../../crd/rules.fixtures.ts'
import type { AnyValue } from '../../testing/test-server.ts'
import { askedAbout, patchOf, review, startWebhook } from '../../testing/webhook-server.ts'
import type { WebhookServer } from '../../testing/webhook-server.ts'

let patch: object = {}
const configurations = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'
let hook: WebhookServer
let server: TestServer
let call: TestServer['call']
let ns: string

before(async () => {
  hook = await startWebhook((body: AnyValue) => review(body, patchOf(patch)))
  server = await startServer()
  call = server.call
  ns = await makeNamespace(server, 'default')
  await call('POST', DEFINITIONS, definition(object({ a: STRING })))
  await served()
  await call('POST', configurations, {
    metadata: { name: 'm' },
    webhooks: [askedAbout(hook, { resources: ['things', 'pods/*'], operations: ['*'] })],
  })
})
after(async () => {
  await hook.stop()
  await server.server.stop()
})

const WHOLE = '{"apiVersion":"spec-x.example.com/v1","metadata":'
for (const [title, change, status, text] of [
  [
    'a null where none is allowed is refused',
    { op: 'replace', path: '/spec', value: null },
    422,
    'Thing.spec-x.example.com "a" is invalid: spec: Invalid value: "null": spec in body must be of type object: "null"',
  ],
  [
    'another kind is refused',
    { op: 'replace', path: '/kind', value: 'Nope' },
    422,
    'Nope.spec-x.example.com "a" is invalid: kind: Invalid value: "Nope": must be Thing',
  ],
  [
    'another version is an error',
    { op: 'replace', path: '/apiVersion', value: 'v9' },
    500,
    '/v9, Kind=Thing is unstructured and is not suitable for converting to "spec-x.example.com/v1"',
  ],
  [
    'another version of its group is an error',
    { op: 'replace', path: '/apiVersion', value: 'spec-x.example.com/v9' },
    500,
    'request to convert CR from an invalid group/version: spec-x.example.com/v9',
  ],
  [
    'no kind is an error',
    { op: 'remove', path: '/kind' },
    500,
    `Internal error occurred: Object 'Kind' is missing in '${WHOLE}`,
  ],
] as const)
  test(`of what a webhook makes of a custom resource ${title}`, async () => {
    patch = change
    const answer = await call('POST', THINGS, thing({ a: 'x' }))
    assert.equal(answer.body.message.slice(0, text.length), text)
    assert.equal(answer.status, status)
  })

for (const [method, subresource] of [
  ['GET', 'exec?command=ls'],
  ['POST', 'attach?stdin=true'],
] as const)
  test(`the container that a webhook names is that of ${method} ${subresource}`, async () => {
    patch = { op: 'add', path: '/container', value: 'other' }
    await call('POST', `${ns}/pods`, pod('p'))
    const { status, body } = await call(method, `${ns}/pods/p/${subresource}`)
    assert.deepEqual([status, body.message], [400, 'container other is not valid for pod p'])
  })
