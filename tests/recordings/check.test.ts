/**
 * Creates recorded from kube-apiserver 1.36, given to `gyro check` as manifests: the same verdict, and the same words where it refuses.
 * The other direction of exchanges.test.ts: there the server is asked as it was asked then, here a manifest is judged for itself.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SeededRandom, SystemClock } from '@gyropilot/foundation'
import { checkDocuments } from '../../packages/gyro/src/check/check-documents.ts'
import type { CheckedObject } from '../../packages/gyro/src/check/check-documents.ts'
import { CheckingServer } from '../../packages/gyro/src/check/checking-server.ts'
import { documentsOf } from '../../packages/gyro/src/check/source/documents.ts'
import { SourceFile } from '../../packages/gyro/src/check/source/source-file.ts'

interface Step {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly contentType?: string
  readonly headers?: object
  readonly query?: { readonly fieldValidation?: string }
  readonly body?: { readonly apiVersion?: string; readonly kind?: string; metadata?: object }
  readonly expect: { readonly status: number; readonly body: { readonly message?: string } }
}

interface Scenario {
  readonly name: string
  readonly steps: readonly Step[]
}

const NAMESPACE = 'v0000000001'
/** How many creates of each group are compared. */
const GROUPS = {
  admission: 30,
  check: 54,
  cel: 75,
  crd: 18,
  devices: 119,
  lifecycle: 66,
  manifests: 390,
  services: 14,
  update: 24,
  validation: 887,
}
/** Groups whose scenarios do not disturb each other: one server for all is ten times cheaper. */
const TOGETHER: ReadonlySet<string> = new Set(['manifests', 'validation', 'lifecycle', 'update'])
const QUOTA = 'what is used is counted by a controller, and there is none'
const STAND_IN = 'what the input does not have is taken as there'
const ANY_PORT = 'a dry run does not look at the range of node ports, and clusters choose it'
const ALONE = 'nothing is stored, so nothing is taken'
/** Where a check says something else, and why. */
const KNOWN: Readonly<Record<string, string>> = {
  'admission quota [nocpu]': QUOTA,
  'admission quota [over]': QUOTA,
  'admission quota [overcpu]': QUOTA,
  'admission quota [cm2]': QUOTA,
  'admission priority [bad]': STAND_IN,
  'admission serviceaccount [nosa]': STAND_IN,
  'services types [taken]': ALONE,
  'services types [badnp]': ANY_PORT,
  'services types [outside]': 'a dry run says the same in other words',
  'manifests testdata/kubernetes-service.yaml [0-Service]': ALONE,
  'devices admin access [claim]': 'the namespace has a label that the input does not say',
  'devices admin access [tpl]': 'the namespace has a label that the input does not say',
}

/** Creates of whole objects. Bodies that take over a part of an earlier answer, and requests of other users, are no manifests. */
function isManifest({ method, path, body, contentType, headers }: Step): boolean {
  if (method !== 'POST' || contentType !== undefined || headers !== undefined) return false
  if (typeof body !== 'object' || !body.kind || JSON.stringify(body).includes('{{')) return false
  return !/\/(?:status|scale|binding|eviction|token|approval|bindings|log|exec)(?:\?|$)/.test(path)
}

function comparable(message: string | undefined): string | undefined {
  return message
    ?.replaceAll(NAMESPACE, '{ns}')
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '<time>')
    .replaceAll(/Invalid value: "\{.*\}"/gs, 'Invalid value: <object>')
    .replaceAll(/\b10\.(?:0|55)\.\d{1,3}\.\d{1,3}\b/g, '<ip>')
}

async function verdicts(scenario: readonly Step[]): Promise<readonly CheckedObject[]> {
  const text = scenario.map(({ path, body }) => {
    const [, namespace] = /\/namespaces\/([^/]+)\//.exec(path) ?? []
    const { metadata } = body as { metadata?: object }
    const placed = namespace === undefined ? body : { ...body, metadata: { namespace, ...metadata } }
    return JSON.stringify(placed).replaceAll('{ns}', NAMESPACE)
  })
  const world = { clock: new SystemClock(), random: new SeededRandom('check') }
  const options = { podSecurity: 'privileged', serviceRanges: ['10.0.0.0/16'] } as const
  const server = await CheckingServer.start(options, world)
  const documents = documentsOf(new SourceFile('recorded', text.join('\n')))
  const { objects } = await checkDocuments(server, documents, {
    namespace: NAMESPACE,
    ignoreMissingKinds: false,
  })
  await server.stop()
  return objects
}

for (const [group, creates] of Object.entries(GROUPS)) {
  test(`${group}: a check judges manifests as kube-apiserver judged them`, async () => {
    const path = join(import.meta.dirname, 'vectors', `${group}.json`)
    const { scenarios } = JSON.parse(readFileSync(path, 'utf8')) as { scenarios: Scenario[] }
    const differing: string[] = []
    let compared = 0
    const parts = scenarios.map(({ name, steps }) =>
      steps.filter(isManifest).map((step) => ({ ...step, scenario: name })),
    )
    for (const part of TOGETHER.has(group) ? [parts.flat()] : parts) {
      const judged = part.length === 0 ? [] : await verdicts(part)
      assert.equal(judged.length, part.length)
      compared += part.length
      for (const [index, { scenario, id, query, expect }] of part.entries()) {
        const { verdict, status } = judged[index]!
        const isRefused = expect.status >= 400 && expect.status !== 409
        const wanted = isRefused ? 'refused' : 'accepted'
        const wasLenient = query?.fieldValidation !== 'Strict'
        if (!isRefused && wasLenient && status?.message?.includes('strict decoding error')) continue
        const message = isRefused ? comparable(expect.body.message) : undefined
        if (verdict === wanted && comparable(status?.message) === message) continue
        const step = `${group} ${scenario} [${id}]`
        if (!(step in KNOWN))
          differing.push(`${step}\n  ${wanted}: ${message}\n  ${verdict}: ${status?.message}`)
      }
    }
    assert.deepEqual(differing, [])
    assert.equal(compared, creates, 'every recorded create was compared')
  })
}
