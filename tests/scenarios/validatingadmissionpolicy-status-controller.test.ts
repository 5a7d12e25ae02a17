/** Policies and the types of their expressions, on a whole cluster: discovery and OpenAPI are the server's own. */
import assert from 'node:assert/strict'
import { resources } from '@gyropilot/api'
import type { ValidatingAdmissionPolicy } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const WITHIN_MS = 5_000

function policy(group: string, resource: string, expression: string): ValidatingAdmissionPolicy {
  const rule = {
    apiGroups: [group],
    apiVersions: ['v1'],
    operations: ['CREATE'],
    resources: [resource],
  }
  return {
    metadata: { name: 'p' },
    spec: {
      matchConstraints: { resourceRules: [rule as never] },
      validations: [{ expression }],
    },
  }
}

/** The texts of the warnings, once this generation was checked. */
function checked(world: World, generation: number): Promise<readonly string[]> {
  return world.until(`generation ${generation} is checked`, WITHIN_MS, async () => {
    const { status } = (await world.find(resources.validatingadmissionpolicies, 'p')) ?? {}
    if (status?.observedGeneration !== generation) return undefined
    assert.ok(status.typeChecking)
    return (status.typeChecking.expressionWarnings ?? []).map(({ warning }) => warning)
  })
}

const definition = {
  metadata: { name: 'widgets.acme.test' },
  spec: {
    group: 'acme.test',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer' },
                  parts: {
                    type: 'array',
                    items: { type: 'object', properties: { at: { type: 'string' } } },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
} as const

scenario(
  'a definition that comes after the policy is seen when the policy changes, not before',
  async (world) => {
    const policies = world.of(resources.validatingadmissionpolicies)
    await policies.create(policy('acme.test', 'widgets', "object.spec.size == 'a'"))
    assert.deepEqual(await checked(world, 1), [])
    await world.of(resources.customresourcedefinitions).create(definition as never)
    await world.advance(60_000)
    assert.deepEqual(await checked(world, 1), [])
    const value = {
      spec: { validations: [{ expression: 'object.spec.parts.all(p, p.at == object.spec.size)' }] },
    }
    await policies.patch('p', { type: 'merge', value })
    assert.deepEqual(await checked(world, 2), [
      "acme.test/v1, Kind=Widget: ERROR: <input>:1:31: found no matching overload for '_==_' applied to '(string, int)'\n | object.spec.parts.all(p, p.at == object.spec.size)\n | ..............................^\n",
    ])
  },
)

scenario('a manager that comes back checks nothing that was checked', async (world) => {
  const policies = world.of(resources.validatingadmissionpolicies)
  await policies.create(policy('apps', 'deployments', 'object.spec.nope == 1'))
  assert.equal((await checked(world, 1)).length, 1)
  const before = await world.find(resources.validatingadmissionpolicies, 'p')
  world.restartManager()
  await world.advance(30_000)
  const after = await world.find(resources.validatingadmissionpolicies, 'p')
  assert.equal(after?.metadata?.resourceVersion, before?.metadata?.resourceVersion)
})
