import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyJsonPatch } from '@gyropilot/api'
import type { JsonPatchOperation, Status } from '@gyropilot/api'
import { StatusError } from '@gyropilot/client'
import type { Website } from '../builder/fixtures.ts'
import { website } from '../builder/fixtures.ts'
import { admissionWebhook } from './admission.ts'
import type { Admit } from './admission.ts'
import { conversionWebhook } from './conversion.ts'
import { webhooksByPath } from './webhooks.ts'
import type { Webhook } from './webhooks.ts'

async function reviewed(webhook: Webhook, request: object) {
  const { kind, apiVersion } = webhook
  const body = JSON.stringify({ kind, apiVersion, request: { uid: 'u', ...request } })
  const answer = await webhooksByPath({ '/hook': webhook })({
    method: 'POST',
    target: '/hook?timeout=10s',
    body,
  })
  assert.equal(answer?.status, 200)
  assert.equal(answer.contentType, 'application/json')
  const { response, ...review } = JSON.parse(answer.body)
  assert.deepEqual(review, { kind, apiVersion })
  return response
}

/** What API servers send: what a request does not have is null. */
const creation = {
  operation: 'CREATE',
  object: website('a'),
  oldObject: null,
  dryRun: false,
  options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
}
const deletion = { ...creation, operation: 'DELETE', object: null, oldObject: website('a') }

const admitted = (admit: Admit<Website>, request: object = creation) =>
  reviewed(admissionWebhook(admit), request)

test('what an admission webhook returns is the answer: nothing, the object, or another one as a patch', async () => {
  assert.deepEqual(await admitted(() => {}), { uid: 'u', allowed: true })
  assert.deepEqual(await admitted(async ({ object }) => object), { uid: 'u', allowed: true })
  const answer = await admitted(({ object }) => ({ ...object!, spec: { html: 'x' } }))
  assert.equal(answer.patchType, 'JSONPatch')
  const patch = JSON.parse(Buffer.from(answer.patch, 'base64').toString()) as JsonPatchOperation[]
  assert.deepEqual(applyJsonPatch(website('a'), patch), { ...website('a'), spec: { html: 'x' } })
})

test('an object that is edited in its place is a patch, too', async () => {
  const answer = await admitted(({ object }) => Object.assign(object!, { spec: { html: 'x' } }))
  const patch = JSON.parse(Buffer.from(answer.patch, 'base64').toString()) as JsonPatchOperation[]
  assert.deepEqual(applyJsonPatch(website('a'), patch), { ...website('a'), spec: { html: 'x' } })
})

test('of a deletion nothing is patched, whatever is returned', async () => {
  for (const returned of [undefined, null, website('b')]) {
    const answer = await admitted(() => returned as Website | undefined, deletion)
    assert.deepEqual(answer, { uid: 'u', allowed: true })
  }
  const edited = await admitted(
    ({ oldObject }) => Object.assign(oldObject!, { spec: {} }),
    deletion,
  )
  assert.deepEqual(edited, { uid: 'u', allowed: true })
})

test('null for nothing is an answer like none', async () => {
  const answer = await admitted(() => null as unknown as Website)
  assert.deepEqual(answer, { uid: 'u', allowed: true })
})

test('what a request does not have is absent, though servers send null', async () => {
  const absent: (readonly string[])[] = []
  const look: Admit<Website> = ({ object, oldObject, options }) => {
    const parts = Object.entries({ object, oldObject, options })
    absent.push(parts.filter(([, part]) => part === undefined).map(([name]) => name))
  }
  await admitted(look, { ...creation, options: null })
  await admitted(look, deletion)
  assert.deepEqual(absent, [['oldObject', 'options'], ['object']])
})

test('what an admission webhook throws refuses: with its text, its Status, or as a panic', async () => {
  const refusal = async (error: unknown) => {
    const { allowed, status } = await admitted(() => {
      throw error
    })
    assert.equal(allowed, false)
    return status
  }
  assert.deepEqual(await refusal(new Error('spec.html is empty')), {
    code: 403,
    reason: 'Forbidden',
    message: 'spec.html is empty',
  })
  const invalid: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    code: 422,
    reason: 'Invalid',
    message: 'no',
  }
  assert.deepEqual(await refusal(new StatusError(invalid)), invalid)
  const { code, message } = (await admitted(() => void new URL('no address'))).status
  assert.deepEqual([code, message], [403, 'Invalid URL'])
  assert.deepEqual(await refusal(new TypeError('x is undefined')), {
    code: 500,
    message: 'panic: x is undefined [recovered]',
  })
})

test('warnings are told with every verdict', async () => {
  const answers = await Promise.all([
    admitted(({ warn }) => warn('old')),
    admitted(({ warn }) => {
      warn('a')
      warn('b')
      throw new Error('no')
    }),
  ])
  assert.deepEqual(
    answers.map(({ warnings }) => warnings),
    [['old'], ['a', 'b']],
  )
})

test('a conversion webhook converts all objects or none, and leaves alone those of the version asked for', async () => {
  const v1 = { apiVersion: 'example.com/v1', kind: 'Website', metadata: { name: 'a' } }
  const v2 = { ...v1, apiVersion: 'example.com/v2' }
  const convert = (objects: object[] | null, fails = false) =>
    reviewed(
      conversionWebhook(async (object, apiVersion) => {
        if (fails) throw new Error('no way')
        return { ...object, metadata: { ...object.metadata, labels: { apiVersion } } }
      }),
      { desiredAPIVersion: 'example.com/v2', objects },
    )
  assert.deepEqual(await convert([v1, v2]), {
    uid: 'u',
    convertedObjects: [
      { ...v2, metadata: { name: 'a', labels: { apiVersion: 'example.com/v2' } } },
      v2,
    ],
    result: { status: 'Success' },
  })
  const nothing = { uid: 'u', convertedObjects: [], result: { status: 'Success' } }
  assert.deepEqual(await convert(null), nothing)
  assert.deepEqual(await convert([v2, v1], true), {
    uid: 'u',
    result: { status: 'Failure', message: 'no way' },
  })
})

test('other paths are not answered; what is no review of the kind is a bad request', async () => {
  const answer = webhooksByPath({ '/hook': admissionWebhook(() => {}) })
  assert.equal(await answer({ method: 'POST', target: '/other', body: '' }), undefined)
  const v1 = 'admission.k8s.io/v1'
  for (const [body, text] of [
    ['{', /JSON/],
    ['null', /not undefined of undefined/],
    [
      JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1beta1' }),
      /v1beta1/,
    ],
    [JSON.stringify({ kind: 'ConversionReview', apiVersion: v1 }), /ConversionReview/],
    [JSON.stringify({ kind: 'AdmissionReview', apiVersion: v1 }), /has no request/],
  ] as const) {
    const refused = await answer({ method: 'POST', target: '/hook', body })
    assert.equal(refused?.status, 400)
    assert.match(refused.body, text)
  }
})

test('integers beyond 2^53 pass through conversions and patches digit by digit', async () => {
  const asked = async (webhook: Webhook, request: string): Promise<string | undefined> => {
    const { kind, apiVersion } = webhook
    const body = `{"kind":"${kind}","apiVersion":"${apiVersion}","request":${request}}`
    return (await webhooksByPath({ '/hook': webhook })({ method: 'POST', target: '/hook', body }))
      ?.body
  }
  const convert = conversionWebhook((object) => ({ ...object }))
  const object = '{"apiVersion":"example.com/v1","kind":"Foo","spec":{"id":9223372036854775807}}'
  const converted = await asked(
    convert,
    `{"uid":"u","desiredAPIVersion":"example.com/v2","objects":[${object}]}`,
  )
  assert.match(converted!, /"spec":\{"id":9223372036854775807\}/)
  const admit = admissionWebhook<Website>(({ object }) => {
    const { spec } = object as { readonly spec: { id?: unknown; copy?: unknown } }
    spec.copy = spec.id
    return object
  })
  const admitted = await asked(admit, `{"uid":"u","operation":"CREATE","object":${object}}`)
  const { patch } = JSON.parse(admitted!).response
  assert.equal(
    Buffer.from(patch, 'base64').toString(),
    '[{"op":"add","path":"/spec/copy","value":9223372036854775807}]',
  )
})
