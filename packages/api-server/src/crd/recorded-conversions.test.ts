/** What kube-apiserver 1.36.2 answered about definitions with several versions, most of them converted by a webhook. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startServer } from '../bootstrap/fixtures.ts'
import { turn, type AnyValue } from '../testing/test-server.ts'
import { startWebhook } from '../testing/webhook-server.ts'
import recorded from './recorded-conversions.json' with { type: 'json' }

interface Step {
  readonly step: string
  /** How the webhook converts from here on. */
  readonly hook?: string
  readonly method: string
  readonly path: string
  readonly type?: string
  readonly body?: AnyValue
  readonly status: number
  readonly warning?: string
  readonly answer?: AnyValue
}

const GROUP = 'rec.example.com'

/** v1 says `{first, last}`, v2 `{name: 'first last'}`; whatever else there is stays. */
function named(object: AnyValue, to: string): AnyValue {
  const { first, last, name, ...spec } = object.spec ?? {}
  if (object.spec === undefined || object.apiVersion === to) return { ...object, apiVersion: to }
  if (to.endsWith('/v2') && 'first' in object.spec) spec.name = `${first ?? ''} ${last ?? ''}`
  else if (to.endsWith('/v1') && 'name' in object.spec) {
    const [before, after] = String(name).split(' ')
    spec.first = before
    if (after !== undefined) spec.last = after
  } else return { ...object, apiVersion: to }
  return { ...object, apiVersion: to, spec }
}

const IN_V2 = [
  ['n', 'count'],
  ['replicas', 'total'],
  ['sel', 'selector'],
] as const

/** v2 has other names for replicas and what belongs to them. */
function counted(object: AnyValue, to: string): AnyValue {
  const names = new Map<string, string>(
    IN_V2.map(([old, now]) => (to.endsWith('/v2') ? [old, now] : [now, old])),
  )
  const renamed = (part: AnyValue): AnyValue =>
    part &&
    Object.fromEntries(Object.entries(part).map(([key, value]) => [names.get(key) ?? key, value]))
  const { spec, status } = object
  return { ...object, apiVersion: to, spec: renamed(spec), status: renamed(status) }
}

function reviewed({ apiVersion, request }: AnyValue, hook: string): object {
  const { uid, objects, desiredAPIVersion: to } = request
  const convert = hook === 'counts' ? counted : named
  const response =
    hook === 'refuses'
      ? { uid, result: { status: 'Failure', message: 'cannot' } }
      : {
          uid,
          result: { status: 'Success' },
          convertedObjects: objects.map((object: AnyValue) => convert(object, to)),
        }
  return { kind: 'ConversionReview', apiVersion, response }
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g

/** Without what differs from run to run; the reference lists owners and causes of one second in any order. */
function comparable(value: AnyValue, key = ''): AnyValue {
  if (Array.isArray(value)) {
    const items = value.map((item) => comparable(item))
    if (key !== 'managedFields' && key !== 'causes') return items
    return items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  }
  if (typeof value === 'string')
    return key === 'resourceVersion'
      ? '<rv>'
      : value.replaceAll(UUID, '<uid>').replaceAll(TIME, '<time>')
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((name) => [name, comparable(value[name], name)]),
  )
}

for (const { name, steps } of recorded as readonly { name: string; steps: readonly Step[] }[])
  test(`as recorded: ${name}`, async (t) => {
    let how = ''
    const hook = await startWebhook((body: AnyValue) => reviewed(body, how))
    const { server, call } = await startServer()
    t.after(async () => {
      await hook.stop()
      await server.stop()
    })
    const filled = <T>(value: T): T =>
      JSON.parse(
        JSON.stringify(value)
          .replaceAll('{group}', GROUP)
          .replaceAll('{hook}', hook.url)
          .replaceAll('{ca}', hook.caBundle),
      ) as T
    for (const step of steps) {
      how = step.hook ?? ''
      const { method, path, body, answer } = filled({ answer: null, ...step })
      if (body?.metadata?.resourceVersion === '{rv}') {
        const { body: current } = await call('GET', path)
        body.metadata.resourceVersion = current.metadata.resourceVersion
      }
      const type = step.type ?? 'application/json'
      const got = await call(method, path, body, { 'content-type': type, 'user-agent': 'cmp' })
      assert.equal(got.status, step.status, `${step.step}: ${got.body?.message}`)
      const warnings = [got.headers['warning'] ?? []].flat()
      assert.deepEqual(warnings, step.warning?.split(', ') ?? [], step.step)
      if (answer !== null)
        assert.deepEqual(
          comparable(JSON.parse(JSON.stringify(got.body))),
          comparable(answer),
          step.step,
        )
      if (step.step === 'crd') for (let i = 0; i < 20; i++) await turn()
    }
  })
