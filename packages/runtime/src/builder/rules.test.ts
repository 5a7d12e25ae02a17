import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { ResourceType } from '@gyropilot/api'
import type { PerformOutside } from '../effects-interpreter.ts'
import { callOutside, recordEvent, resourceOfKind, write, writeAll } from '../effects.ts'
import { createExpectations } from '../expectations.ts'
import { statusError } from '../testing/index.ts'
import { create } from '../writes.ts'
import { buildController } from './controller-builder.ts'
import { configMap, managing, website, websites } from './fixtures.ts'
import { reconcileByRules } from './rules.ts'

test('rules are a reconciler too: effects are performed past the cache, observe decides whether there is anything to do', async () => {
  const world = managing()
  buildController(world.manager)
    .for(websites)
    .complete(
      reconcileByRules({
        async observe({ namespace, name }, { client }) {
          const { items } = await client.resource(websites, namespace).list()
          return items.find((item) => item.metadata?.name === name)
        },
        *reconcile(site) {
          const name = site.metadata?.name ?? ''
          const created = yield* write(create(resources.configmaps, configMap(name)))
          if (!created.ok) return { error: created.error }
          yield* recordEvent(site, 'Normal', 'Created', 'ConfigMap created')
          return { requeueAfterMs: 1_000 }
        },
      }),
    )
  world.server.put(websites, website('a'))
  await world.start()
  await world.clock.advance(0)
  assert.ok(world.server.get(resources.configmaps, 'default', 'a'))
  const events = world.server.list(resources.events) as { reason?: string }[]
  assert.deepEqual(
    events.map(({ reason }) => reason),
    ['Created'],
  )
  await world.clock.advance(1_000)
  const errors = (): number | undefined =>
    world.metrics.value('controller_runtime_reconcile_errors_total', { controller: 'website' })
  assert.equal(errors(), 1, 'the second creation is refused, and the rules say so')
  world.server.remove(websites, website('a'))
  await world.clock.advance(60_000)
  const before = errors()
  await world.clock.advance(600_000)
  assert.equal(errors(), before, 'nothing is done for an object that is gone')
  await world.stop()
})

test('rules may expect, ask for kinds and call outside, where the reconciler is given what that takes', async () => {
  const world = managing()
  const { manager, server, clock } = world
  const expectations = createExpectations(clock)
  const discovered = {
    kind: 'APIGroupDiscoveryList',
    items: [
      {
        metadata: { name: 'apps' },
        versions: [
          {
            version: 'v1',
            resources: [
              {
                resource: 'deployments',
                responseKind: { kind: 'Deployment' },
                scope: 'Namespaced',
              },
            ],
          },
        ],
      },
    ],
  }
  server.onRequest = ({ path }) => {
    if (path === '/apis') return discovered
    if (path === '/api') throw statusError(404, 'NotFound')
    return undefined
  }
  const told: unknown[] = []
  const outside: PerformOutside = async ({ name, arguments: values }) => [name, ...values]
  buildController(manager)
    .for(websites)
    .complete(
      reconcileByRules(
        {
          observe: ({ namespace, name }) => `${namespace}/${name}`,
          *reconcile(key) {
            yield* writeAll([create(resources.configmaps, configMap('a'))], 'slow-start', {
              kind: 'creations',
              key,
            })
            const kind = yield* resourceOfKind('apps', 'Deployment', 'v1')
            const answer = yield* callOutside('dns', 'a')
            for (const outcome of [kind, answer])
              told.push(outcome.ok ? outcome.object : outcome.error)
          },
        },
        { expectations, mapper: manager.mapper, outside },
      ),
    )
  server.put(websites, website('a'))
  await world.start()
  await clock.advance(0)
  assert.equal(expectations.satisfied('default/a'), false)
  const [deployments, answer] = told as [ResourceType, unknown]
  assert.equal(deployments.resource, 'deployments')
  assert.deepEqual(answer, ['dns', 'a'])
  await world.stop()
})
