/** As kube-apiserver 1.36.2 answered. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { createTestServer, type TestServer } from '../../testing/test-server.ts'

const WIDGETS = '/apis/x.io/v1/namespaces/default/widgets'
const JSON_PATCH = { 'content-type': 'application/json-patch+json' }
const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' }
const APPLY = { 'content-type': 'application/apply-patch+yaml' }
const TOO_LARGE = [500, 'etcdserver: request is too large']

let running: TestServer
before(async () => {
  running = await createTestServer()
  const spec = { type: 'object', additionalProperties: { type: 'string' } }
  await running.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'widgets.x.io' },
    spec: {
      group: 'x.io',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  })
  await running.server.definitionsSettled()
})

const widget = (name: string, spec: object): object => ({
  apiVersion: 'x.io/v1',
  kind: 'Widget',
  metadata: { name },
  spec,
})

/** Keys of 1 kB, which stand in managedFields once more. */
const longKeys = (from: number, to: number): object =>
  Object.fromEntries(
    Array.from({ length: to - from }, (_, i) => [`k${from + i}${'q'.repeat(990)}`, 'x']),
  )

const BODY = { 'content-type': 'application/json' }

async function send(
  method: string,
  path: string,
  body: object,
  headers: Record<string, string> = BODY,
): Promise<readonly [number, string | undefined, number | undefined]> {
  const { status, value } = await running.request(method, path, JSON.stringify(body), headers)
  return [status, value.message, value.metadata?.managedFields?.length]
}

test('who owns the fields of an object that is too large with it is forgotten, but an apply is refused', async () => {
  assert.deepEqual(await send('POST', WIDGETS, widget('posted', longKeys(0, 900))), [
    201,
    undefined,
    undefined,
  ])
  const applied = await send(
    'PATCH',
    `${WIDGETS}/applied?fieldManager=m`,
    widget('applied', longKeys(0, 900)),
    APPLY,
  )
  assert.deepEqual(applied.slice(0, 2), TOO_LARGE)
  assert.deepEqual(await send('POST', WIDGETS, widget('both', longKeys(0, 600))), [
    201,
    undefined,
    1,
  ])
  const more = widget('both', longKeys(600, 900))
  const onto = await send('PATCH', `${WIDGETS}/both?fieldManager=m`, more, APPLY)
  assert.deepEqual(onto.slice(0, 2), TOO_LARGE)
  assert.deepEqual(await send('PATCH', `${WIDGETS}/both`, more, MERGE_PATCH), [
    200,
    undefined,
    undefined,
  ])
})

test('a JSON patch of a few bytes that doubles a large object is refused', async () => {
  await send('POST', WIDGETS, widget('copied', { a: 'x'.repeat(60_000) }))
  const answers: unknown[] = []
  for (const to of 'bcd') {
    const copies = Array.from({ length: 10 }, (_, i) => ({
      op: 'copy',
      from: '/spec/a',
      path: `/spec/${to}${i}`,
    }))
    const [status, message] = await send('PATCH', `${WIDGETS}/copied`, copies, JSON_PATCH)
    answers.push(status === 200 ? status : [status, message])
  }
  assert.deepEqual(answers, [200, 200, TOO_LARGE])
})

test('patches that are small one by one are refused from where the object is too large', async () => {
  await send('POST', WIDGETS, widget('grown', {}))
  let stored = 0
  let refused: readonly unknown[] = []
  for (let i = 0; i < 60 && refused.length === 0; i++) {
    const patch = { spec: { [`k${i}`]: 'x'.repeat(30_000) } }
    const answer = await send('PATCH', `${WIDGETS}/grown`, patch, MERGE_PATCH)
    if (answer[0] === 200) stored++
    else refused = answer.slice(0, 2)
  }
  assert.deepEqual(refused, TOO_LARGE)
  assert.equal(stored, 52)
})
