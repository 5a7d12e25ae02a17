import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { DEPLOYMENTS, policy, rule, sync, warningsOf, writtenStatus } from './fixtures.ts'
import { policyStatusLogic, validatingAdmissionPolicyStatusController } from './index.ts'
import { discovered } from './testing/recorded.ts'

const DONE = { observedGeneration: 1, typeChecking: {} }
const shown = (warnings: ReturnType<typeof warningsOf>): unknown[] =>
  warnings.map(({ fieldRef, warning }) => [fieldRef, warning.split('\n')[0]])

test('Given `object.spec.replicas > 1` on apps/v1 deployments, then no warnings and typeChecking set', () => {
  const run = sync(policy([{ expression: 'object.spec.replicas > 1' }]))
  assert.deepEqual(writtenStatus(run), DONE)
  assert.deepEqual(run.result, undefined)
})

test("Given a second validation `object.spec.replicas > '1'`, then one warning at `spec.validations[1].expression` with the overload text", () => {
  const checked = policy([
    { expression: 'object.spec.replicas > 1' },
    { expression: "object.spec.replicas > '1'" },
  ])
  assert.deepEqual(warningsOf(checked), [
    {
      fieldRef: 'spec.validations[1].expression',
      warning:
        "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_' applied to '(int, string)'\n | object.spec.replicas > '1'\n | .....................^\n",
    },
  ])
})

test("Given two faulty validations, then two warnings in index order, the first with `undefined field 'nonExistingFirst'`", () => {
  const checked = policy([
    { expression: 'object.spec.nonExistingFirst > 1' },
    { expression: 'object.spec.nonExistingSecond > 1' },
  ])
  const undefinedField = 'apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field'
  assert.deepEqual(shown(warningsOf(checked)), [
    ['spec.validations[0].expression', `${undefinedField} 'nonExistingFirst'`],
    ['spec.validations[1].expression', `${undefinedField} 'nonExistingSecond'`],
  ])
})

test('Given one expression with two faults, then one warning holding both texts', () => {
  const checked = policy([{ expression: 'object.spec.first > 1 && object.spec.second > 1' }])
  const [warning, ...others] = warningsOf(checked)
  assert.equal(others.length, 0)
  assert.match(warning!.warning, /undefined field 'first'\n[^]*\nERROR: .*undefined field 'second'/)
})

test("Given `object.spec.replicas > '1'` with messageExpression `'wants replicas > 1, got ' + object.spec.replicas`, then two warnings: `spec.validations[0].expression` (overload of `_>_` for (int, string)) and `spec.validations[0].messageExpression` (overload of `_+_` for (string, int))", () => {
  const checked = policy([
    {
      expression: "object.spec.replicas > '1'",
      messageExpression: "'wants replicas > 1, got ' + object.spec.replicas",
    },
  ])
  const overload = (at: number, name: string, types: string): string =>
    `apps/v1, Kind=Deployment: ERROR: <input>:1:${at}: found no matching overload for '${name}' applied to '${types}'`
  assert.deepEqual(shown(warningsOf(checked)), [
    ['spec.validations[0].expression', overload(22, '_>_', '(int, string)')],
    ['spec.validations[0].messageExpression', overload(28, '_+_', '(string, int)')],
  ])
})

const GADGETS = {
  matchConstraints: { resourceRules: [rule(['house.example.com'], ['v1'], ['gadgets'])] },
}

test('Given a CRD and a policy over it, then its schema from the server is used', () => {
  const checked = policy([{ expression: "object.spec.count == 'a'" }], GADGETS)
  const run = sync(checked)
  const paths = run.effects.flatMap((effect) => (effect.effect === 'fetch' ? [effect.path] : []))
  assert.deepEqual(paths, ['/openapi/v3/apis/house.example.com/v1'])
  assert.match(
    warningsOf(checked)[0]!.warning,
    /^house.example.com\/v1, Kind=Gadget: .*'\(int, string\)'/,
  )
})

test('Given `matchConstraints` with `*` groups, then no warnings and observedGeneration set', () => {
  const constraints = { matchConstraints: { resourceRules: [rule(['*'], ['v1'], ['pods'])] } }
  const run = sync(policy([{ expression: 'object.spec.nope' }], constraints))
  assert.deepEqual(writtenStatus(run), DONE)
  assert.deepEqual(
    run.effects.map(({ effect }) => effect),
    ['write'],
  )
})

test('Given a policy update that only changes labels, then no apply', () => {
  const checked = policy([{ expression: 'object.spec.nope' }])
  for (const observedGeneration of [1, 2]) {
    const run = sync({ ...checked, status: { observedGeneration } })
    assert.deepEqual(run.effects, [])
  }
  const behind = sync({
    ...checked,
    metadata: { name: 'p', generation: 3 },
    status: { observedGeneration: 2 },
  })
  assert.equal(writtenStatus(behind)?.observedGeneration, 3)
})

test('the status is applied by force, with nothing that is of others', () => {
  const given = policy([{ expression: 'true' }])
  const conditions = [
    { type: 'A', status: 'True', reason: 'x', message: '', lastTransitionTime: '' },
  ]
  const { writes } = sync({ ...given, status: { conditions } })
  assert.deepEqual(writes, [
    {
      verb: 'apply',
      type: (writes[0] as { type: unknown }).type,
      namespace: undefined,
      name: 'p',
      object: {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name: 'p' },
        status: DONE,
      },
      fieldManager: 'validatingadmissionpolicy-status',
      force: true,
      subresource: 'status',
    },
  ])
})

test('a refused write comes back with back-off', () => {
  const refusal = new Error('conflict')
  const run = sync(policy([{ expression: 'true' }]), { refusal })
  assert.deepEqual(run.result, { error: refusal })
})

test('a server that does not tell its resources is asked again later, and nothing is said to be checked', () => {
  const remembered = new Error('unreachable')
  const run = sync(policy([{ expression: 'object.spec.nope' }]), { remembered })
  assert.deepEqual([run.result, run.writes], [{ error: remembered }, []])
})

test('a kind that is missing is looked for once more, in what the server has now', () => {
  const old = {
    ...discovered,
    resources: discovered.resources.filter(({ group }) => group !== 'house.example.com'),
  }
  const checked = policy([{ expression: 'object.spec.nope == 1' }], GADGETS)
  assert.equal(warningsOf(checked, { remembered: old, fresh: discovered }).length, 1)
  const run = sync(checked, { remembered: old })
  assert.equal(run.effects.filter(({ effect }) => effect === 'read').length, 2)
  assert.deepEqual(writtenStatus(run), DONE)
})

test('built-in kinds need no document of the server, and what has no schema is skipped without a word', () => {
  const both = {
    matchConstraints: {
      resourceRules: [...DEPLOYMENTS, ...GADGETS.matchConstraints.resourceRules],
    },
  }
  const checked = policy([{ expression: 'object.nope == 1' }], both)
  const empty: Readonly<Record<string, object>> = { '/openapi/v3/apis/house.example.com/v1': {} }
  for (const bodies of [{}, empty]) {
    const [warning] = warningsOf(checked, { bodies })
    assert.doesNotMatch(warning!.warning, /Gadget/)
    assert.match(warning!.warning, /Deployment/)
  }
  assert.match(
    warningsOf(checked)[0]!.warning,
    /Deployment[^]*\n\nhouse.example.com\/v1, Kind=Gadget/,
  )
})

test('a document is read once for all kinds of its version, parameters among them', () => {
  const checked = policy([{ expression: 'params.spec.count == object.spec.count' }], {
    ...GADGETS,
    paramKind: { apiVersion: 'house.example.com/v1', kind: 'Limit' },
  })
  const run = sync(checked)
  assert.equal(run.effects.filter(({ effect }) => effect === 'fetch').length, 1)
  assert.match(warningsOf(checked)[0]!.warning, /undefined field 'spec'/)
})

test('parameters without a schema may be anything; without kinds nobody asks for them', () => {
  const paramKind = { apiVersion: 'nope.example.com/v1', kind: 'Nope' }
  assert.deepEqual(warningsOf(policy([{ expression: 'params.a.b == 1' }], { paramKind })), [])
  const none = sync(policy([{ expression: 'params.a' }], { paramKind, matchConstraints: {} }))
  assert.deepEqual(
    none.effects.map(({ effect }) => effect),
    ['write'],
  )
})

test('object and parameters of one kind are of two types', () => {
  const checked = policy([{ expression: 'params.spec == object.spec' }], {
    paramKind: { apiVersion: 'apps/v1', kind: 'Deployment' },
  })
  const found = /'\(Deployment(\d+)\.spec, Deployment(\d+)\.spec\)'/.exec(
    warningsOf(checked)[0]!.warning,
  )
  assert.deepEqual(found?.slice(1), ['123000000', '123000001'])
})

test('without parameters there is no such name', () => {
  const [warning] = warningsOf(policy([{ expression: 'params.a == 1' }]))
  assert.match(warning!.warning, /undeclared reference to 'params'/)
})

test('names, queue and workers are those of the page; additions and updates are looked at', () => {
  const { name, aliases, serviceAccount, enabledByDefault } =
    validatingAdmissionPolicyStatusController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    [
      'validatingadmissionpolicy-status-controller',
      [],
      'validatingadmissionpolicy-status-controller',
      true,
    ],
  )
  const checked = policy([])
  const kept = {
    ...checked,
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
  }
  const context = testContext({ configuration: defaultControllersConfiguration, cached: [kept] })
  const { queueName, workers, rateLimiter, maxRetries, watches, observe } =
    policyStatusLogic(context)
  assert.deepEqual(
    [queueName, workers, rateLimiter, maxRetries],
    ['validatingadmissionpolicy-status', 5, undefined, undefined],
  )
  assert.deepEqual([observe('p'), observe('gone')], [kept, undefined])
  const [watch, ...others] = watches
  assert.deepEqual([...watch!.onAdd!(kept), ...watch!.onUpdate!(kept, kept)], ['p', 'p'])
  assert.deepEqual([watch!.onDelete, others], [undefined, []])
})
