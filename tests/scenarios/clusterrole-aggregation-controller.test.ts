/** Roles that are made of others, on a whole cluster with the roles that every cluster has. */
import assert from 'node:assert/strict'
import { deepEqual, resources } from '@gyropilot/api'
import type { ClusterRole, PolicyRule } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const WITHIN_MS = 5_000
const RULE: PolicyRule = { apiGroups: ['example.com'], resources: ['sails'], verbs: ['get'] }

async function create(world: World, labels: Record<string, string>): Promise<void> {
  await world
    .of<ClusterRole>(resources.clusterroles)
    .create({ metadata: { name: 'sails', labels }, rules: [RULE] })
}

async function untilRule(world: World, name: string, isThere: boolean, rule = RULE): Promise<void> {
  await world.until(`${name} has the rule: ${isThere}`, WITHIN_MS, async () => {
    const role = await world.find(resources.clusterroles, name)
    const has = role?.rules?.some((known) => deepEqual(known, rule)) ?? false
    return has === isThere ? true : undefined
  })
}

const TO_VIEW = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' }

scenario(
  'Given the bootstrap role `view` and a new ClusterRole labelled `rbac.authorization.k8s.io/aggregate-to-view=true`, then `view` gets its rules',
  async (world) => {
    await create(world, TO_VIEW)
    await untilRule(world, 'view', true)
    const view = await world.find(resources.clusterroles, 'view')
    assert.ok((view?.rules?.length ?? 0) > 1, 'what view had before is still there')
    assert.ok(view?.metadata?.labels?.['kubernetes.io/bootstrapping'], 'labels of others survive')
  },
)

scenario('Given that label is removed, then the rules leave `view`', async (world) => {
  await create(world, TO_VIEW)
  await untilRule(world, 'view', true)
  const value = { metadata: { labels: { 'rbac.authorization.k8s.io/aggregate-to-view': null } } }
  await world.of(resources.clusterroles).patch('sails', { type: 'merge', value })
  await untilRule(world, 'view', false)
})

scenario('Given the labelled role is deleted, then the rules leave `view`', async (world) => {
  await create(world, TO_VIEW)
  await untilRule(world, 'view', true)
  await world.of(resources.clusterroles).delete('sails')
  await untilRule(world, 'view', false)
})

scenario(
  'Given `edit` aggregates into `admin` through its label, then a rule added to a role aggregated into `edit` shows up in `admin`',
  async (world) => {
    await create(world, { 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' })
    await untilRule(world, 'admin', true)
    const more = { ...RULE, verbs: ['update'] }
    const value = { rules: [RULE, more] }
    await world.of(resources.clusterroles).patch('sails', { type: 'merge', value })
    await untilRule(world, 'admin', true, more)
    await untilRule(world, 'view', false)
  },
)

scenario(
  'Given a user adds a rule to `view` by hand, then it is gone after the next event on any ClusterRole',
  async (world) => {
    const view = await world.find(resources.clusterroles, 'view')
    assert.ok(view)
    const byHand = { ...view, rules: [...(view.rules ?? []), RULE] }
    await world.of(resources.clusterroles).update(byHand)
    await create(world, {})
    await untilRule(world, 'view', false)
  },
)

scenario('two roles that select each other come to the same rules and to rest', async (world) => {
  const twin = (name: string, other: string): ClusterRole => ({
    metadata: { name, labels: { for: other, me: name } },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { for: name } }] },
  })
  const roles = world.of(resources.clusterroles)
  await roles.create(twin('left', 'right'))
  await roles.create(twin('right', 'left'))
  await create(world, { for: 'left' })
  await untilRule(world, 'right', true)
  const versions = async () =>
    Promise.all(
      ['left', 'right'].map(async (name) => {
        const role = await world.find(resources.clusterroles, name)
        assert.deepEqual(role?.rules, [RULE])
        return role?.metadata?.resourceVersion
      }),
    )
  await world.advance(1_000)
  const settled = await versions()
  await world.advance(60_000)
  assert.deepEqual(await versions(), settled)
})
