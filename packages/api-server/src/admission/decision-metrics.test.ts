/** Series as kube-apiserver 1.36.2 showed them after the same requests. */
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { PrometheusRegistry } from '@gyropilot/foundation'
import { makeNamespace, startServer } from '../bootstrap/fixtures.ts'
import type { TestServer } from '../bootstrap/fixtures.ts'
import { patchOf, review, startWebhook } from '../testing/webhook-server.ts'
import type { WebhookAnswer, WebhookServer } from '../testing/webhook-server.ts'

const GROUP = '/apis/admissionregistration.k8s.io/v1'
const RULE = {
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: ['configmaps'],
  operations: ['CREATE'],
}
const FAILING = { name: 'c', expression: 'object.data.none == "1"' }
const stops: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

interface Setup extends TestServer {
  readonly hook: WebhookServer
  /** Of each ConfigMap, by the label that chooses what looks at it. */
  create(label: string): Promise<number>
  /** Counts by series, without the names that all have, sums and buckets. */
  counts(prefix: string): Record<string, number>
  expose(): string
}

async function setup(answer: (path: string, body: object) => WebhookAnswer): Promise<Setup> {
  const hook = await startWebhook((body, path) => answer(path.split('?')[0]!.slice(1), body))
  const metrics = new PrometheusRegistry()
  const server = await startServer({ metrics })
  stops.push(hook.stop, () => server.server.stop())
  const ns = await makeNamespace(server, 'a')
  const create = async (label: string): Promise<number> => {
    const metadata = { generateName: 'x-', labels: { seen: label } }
    return (await server.call('POST', `${ns}/configmaps`, { metadata })).status
  }
  const counts = (prefix: string): Record<string, number> => {
    const lines = metrics.expose().split('\n')
    const found = lines.filter((line) => line.startsWith(prefix) && !/_(?:bucket|sum)\{/.test(line))
    return Object.fromEntries(
      found.map((line) => {
        const at = line.lastIndexOf(' ')
        const series = line.slice(prefix.length, at).replaceAll(/,?(?:operation)="[^"]*"/g, '')
        return [series, Number(line.slice(at))]
      }),
    )
  }
  return { ...server, hook, create, counts, expose: () => metrics.expose() }
}

function hooks(hook: WebhookServer, described: Record<string, object>): object[] {
  return Object.entries(described).map(([name, changes]) => ({
    name: `${name}.example.com`,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    clientConfig: { url: `${hook.url}/${name.replace(/-.*/, '')}`, caBundle: hook.caBundle },
    rules: [RULE],
    objectSelector: { matchLabels: { seen: name } },
    ...changes,
  }))
}

const IGNORE = { failurePolicy: 'Ignore' }

function answerOf(path: string, body: object): WebhookAnswer {
  if (path === 'broken') return { status: 500, text: 'boom' }
  if (path === 'junk') return {}
  if (path === 'deny') return review(body, { allowed: false, status: { code: 422, message: 'no' } })
  if (path === 'odd') return review(body, { allowed: false, status: { code: 650 } })
  if (path === 'badpatch') return review(body, patchOf({ op: 'x' }))
  return review(body, { allowed: true })
}

test('webhooks are counted by what came of asking them', async () => {
  const { call, create, counts, expose, hook } = await setup(answerOf)
  const webhooks = hooks(hook, {
    allow: {},
    deny: IGNORE,
    odd: {},
    broken: {},
    'broken-ignored': IGNORE,
    junk: {},
    'junk-ignored': IGNORE,
  })
  await call('POST', `${GROUP}/validatingwebhookconfigurations`, {
    metadata: { name: 'v' },
    webhooks,
  })
  await call('POST', `${GROUP}/mutatingwebhookconfigurations`, {
    metadata: { name: 'm' },
    webhooks: hooks(hook, { badpatch: IGNORE }),
  })
  const labels = ['allow', 'deny', 'odd', 'broken', 'broken-ignored', 'junk', 'junk-ignored']
  const statuses: number[] = []
  for (const label of [...labels, 'badpatch']) statuses.push(await create(label))
  assert.deepEqual(statuses, [201, 422, 650, 500, 201, 500, 201, 500])
  const asked = 'apiserver_admission_webhook_request_total'
  const series = (code: number, name: string, rejected: boolean, type = 'validating'): string =>
    `{code="${code}",name="${name}.example.com",rejected="${rejected}",type="${type}"}`
  assert.deepEqual(counts(asked), {
    [series(0, 'badpatch', true, 'admit')]: 1,
    [series(200, 'allow', false)]: 1,
    [series(422, 'deny', true)]: 1,
    [series(500, 'broken', true)]: 1,
    [series(500, 'broken-ignored', false)]: 1,
    [series(503, 'junk', true)]: 1,
    [series(503, 'junk-ignored', false)]: 1,
    [series(600, 'odd', true)]: 1,
  })
  const refused = (error: string, name: string, code: number, type = 'validating'): string =>
    `{error_type="${error}",name="${name}.example.com",rejection_code="${code}",type="${type}"}`
  assert.deepEqual(counts('apiserver_admission_webhook_rejection_count'), {
    [refused('apiserver_internal_error', 'badpatch', 0, 'admit')]: 1,
    [refused('calling_webhook_error', 'broken', 500)]: 1,
    [refused('calling_webhook_error', 'junk', 503)]: 1,
    [refused('no_error', 'deny', 422)]: 1,
    [refused('no_error', 'odd', 600)]: 1,
  })
  assert.deepEqual(counts('apiserver_admission_webhook_fail_open_count'), {
    '{name="broken-ignored.example.com",type="validating"}': 1,
    '{name="junk-ignored.example.com",type="validating"}': 1,
  })
  const durations = 'apiserver_admission_webhook_admission_duration_seconds'
  assert.equal(Object.keys(counts(durations)).length, 8)
  const bounds = expose()
    .split('\n')
    .filter((line) => line.startsWith(`${durations}_bucket`) && line.includes('"allow.'))
  assert.deepEqual(
    bounds.map((line) => /le="([^"]*)"/.exec(line)![1]),
    ['0.005', '0.025', '0.1', '0.5', '1', '2.5', '10', '25', '+Inf'],
  )
})

test('match conditions are counted when they do not hold', async () => {
  const { call, create, counts, hook } = await setup(answerOf)
  const not = { matchConditions: [{ name: 'c', expression: 'false' }] }
  const all = {
    holds: { matchConditions: [{ name: 'c', expression: 'true' }] },
    not,
    fails: { matchConditions: [FAILING] },
    'fails-ignored': { matchConditions: [FAILING], ...IGNORE },
  }
  for (const kind of ['validating', 'mutating'])
    await call('POST', `${GROUP}/${kind}webhookconfigurations`, {
      metadata: { name: 'w' },
      webhooks: hooks(hook, all),
    })
  for (const label of Object.keys(all)) await create(label)
  const prefix = 'apiserver_admission_match_condition'
  const of = (name: string, type: string): string =>
    `{kind="webhook",name="${name}.example.com",type="${type}"}`
  // What fails as it would change the object is not judged any more.
  assert.deepEqual(counts(`${prefix}_evaluation_errors_total`), {
    [of('fails', 'admit')]: 1,
    [of('fails-ignored', 'admit')]: 1,
    [of('fails-ignored', 'validating')]: 1,
  })
  assert.deepEqual(counts(`${prefix}_exclusions_total`), {
    [of('fails-ignored', 'admit')]: 1,
    [of('fails-ignored', 'validate')]: 1,
    [of('not', 'admit')]: 1,
    [of('not', 'validate')]: 1,
  })
  assert.deepEqual(counts(`${prefix}_evaluation_seconds_count`), {
    [of('fails', 'admit')]: 1,
    [of('fails-ignored', 'admit')]: 1,
    [of('fails-ignored', 'validating')]: 1,
    [of('not', 'admit')]: 1,
    [of('not', 'validating')]: 1,
  })
})

async function addPolicy(
  { call }: Setup,
  kind: 'mutating' | 'validating',
  name: string,
  spec: object,
  validationActions?: readonly string[],
): Promise<void> {
  const matchConstraints = {
    resourceRules: [RULE],
    objectSelector: { matchLabels: { seen: name } },
  }
  const made = await call('POST', `${GROUP}/${kind}admissionpolicies`, {
    metadata: { name },
    spec: { matchConstraints, ...spec },
  })
  assert.equal(made.status, 201, made.body.message)
  await call('POST', `${GROUP}/${kind}admissionpolicybindings`, {
    metadata: { name },
    spec: { policyName: name, ...(validationActions && { validationActions }) },
  })
}

test('expressions of validating policies are counted by what was done about them', async () => {
  const server = await setup(answerOf)
  const no = { validations: [{ expression: 'false' }] }
  const broken = { validations: [{ expression: FAILING.expression }] }
  const audited = {
    validations: [{ expression: 'true' }],
    auditAnnotations: [{ key: 'k', valueExpression: 'string(object.data.none)' }],
  }
  await addPolicy(server, 'validating', 'fine', { validations: [{ expression: 'true' }] }, ['Deny'])
  await addPolicy(server, 'validating', 'both', no, ['Warn', 'Audit'])
  await addPolicy(server, 'validating', 'broken', broken, ['Deny'])
  await addPolicy(server, 'validating', 'ignored', { ...broken, ...IGNORE }, ['Deny'])
  await addPolicy(server, 'validating', 'audited', audited, ['Warn'])
  await addPolicy(server, 'validating', 'audited2', { ...audited, ...IGNORE }, ['Warn'])
  await addPolicy(server, 'validating', 'not', { ...no, matchConditions: [FAILING] }, ['Deny'])
  const statuses: number[] = []
  for (const label of ['fine', 'both', 'broken', 'ignored', 'audited', 'audited2', 'not'])
    statuses.push(await server.create(label))
  // An annotation that fails refuses, whatever the binding says.
  assert.deepEqual(statuses, [201, 201, 422, 201, 422, 201, 422])
  const series = (action: string, name: string): string =>
    `{enforcement_action="${action}",error_type="invalid_error",policy="${name}",policy_binding="${name}"}`
  const expected = {
    [series('allow', 'ignored')]: 1,
    [series('audit', 'both')]: 1,
    [series('deny', 'audited')]: 1,
    [series('deny', 'broken')]: 1,
    [series('deny', 'not')]: 1,
    [series('warn', 'both')]: 1,
  }
  const prefix = 'apiserver_validating_admission_policy_check'
  assert.deepEqual(server.counts(`${prefix}_total`), expected)
  assert.deepEqual(server.counts(`${prefix}_duration_seconds_count`), expected)
  const conditions = server.counts('apiserver_admission_match_condition_evaluation_errors_total')
  assert.deepEqual(conditions, { '{kind="policy",name="not",type="validate"}': 1 })
})

test('each mutation of a policy is counted, and one that fails stops no other', async () => {
  const server = await setup(answerOf)
  const label = (value: string): object => ({
    patchType: 'ApplyConfiguration',
    applyConfiguration: {
      expression: `Object{metadata: Object.metadata{labels: {"added": ${value}}}}`,
    },
  })
  const mutations = [label('"a"'), label('object.data.none'), label('"b"')]
  const never = { reinvocationPolicy: 'Never', mutations }
  await addPolicy(server, 'mutating', 'ignored', { ...never, ...IGNORE })
  await addPolicy(server, 'mutating', 'failing', never)
  assert.deepEqual([await server.create('ignored'), await server.create('failing')], [201, 403])
  const { body } = await server.call('GET', '/api/v1/namespaces/a/configmaps')
  assert.equal(body.items[0].metadata.labels.added, 'b')
  const series = (error: string, name: string): string =>
    `{error_type="${error}",policy="${name}",policy_binding="${name}"}`
  assert.deepEqual(server.counts('apiserver_mutating_admission_policy_check_total'), {
    [series('invalid_error', 'failing')]: 1,
    [series('invalid_error', 'ignored')]: 1,
    [series('no_error', 'failing')]: 2,
    [series('no_error', 'ignored')]: 2,
  })
})

test('a mutating policy that may be reinvoked sees its own change', async () => {
  const server = await setup(answerOf)
  const labels = 'object.metadata.labels'
  const expression = `Object{metadata: Object.metadata{labels: {"n": "n" in ${labels} ? ${labels}["n"] + "x" : "x"}}}`
  const mutation = { patchType: 'ApplyConfiguration', applyConfiguration: { expression } }
  for (const reinvocationPolicy of ['IfNeeded', 'Never']) {
    const name = reinvocationPolicy.toLowerCase()
    await addPolicy(server, 'mutating', name, { reinvocationPolicy, mutations: [mutation] })
    await server.create(name)
  }
  const { body } = await server.call('GET', '/api/v1/namespaces/a/configmaps')
  const seen = Object.fromEntries(
    body.items.map((item: { metadata: { labels: Record<string, string> } }) => [
      item.metadata.labels['seen'],
      item.metadata.labels['n'],
    ]),
  )
  assert.deepEqual(seen, { ifneeded: 'xx', never: 'x' })
})
