/** What a random user does with ClusterRoles: some are the sum of others, of which some are sums themselves. */
import type { ClusterRole, PolicyRule } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { APPS, merge } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

const MOST_PARTS = 12
const VERBS = ['get', 'list', 'update', 'delete'] as const
const NAMED = /^(sum|part)-/

/** By these a role says of which sums it is a part; the last two are those of the roles that the server brings. */
const LABELS = [
  ...APPS.map(labelOf),
  'rbac.authorization.k8s.io/aggregate-to-view',
  'rbac.authorization.k8s.io/aggregate-to-edit',
]

function labelOf(app: string): string {
  return `example.com/to-sum-${app}`
}

function some(hand: Hand, isMeant: (role: ClusterRole) => boolean): ClusterRole | undefined {
  return hand.pick(hand.cluster.objects.all(resources.clusterroles).filter(isMeant))
}

const isPart = ({ metadata }: ClusterRole): boolean => metadata?.name?.startsWith('part-') === true

function someRule({ pick }: Hand): PolicyRule {
  return { apiGroups: ['example.com'], resources: [pick(APPS)!], verbs: [pick(VERBS)!] }
}

function someLabels(hand: Hand, keys: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(keys.filter(() => hand.random.next() < 0.4).map((key) => [key, 'true']))
}

function role(name: string, given: Partial<ClusterRole>): ClusterRole {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    ...given,
    metadata: { ...given.metadata, name },
  }
}

export const roleOperations: readonly Operation[] = [
  {
    name: 'create a role that is a sum of others',
    weight: 1.5,
    async act(hand) {
      const app = hand.pick(APPS)!
      const name = `sum-${app}`
      if (some(hand, ({ metadata }) => metadata?.name === name) !== undefined) return false
      // A sum is part of those with earlier letters only: those of a circle would keep for ever what they have of each other.
      const labels = someLabels(hand, APPS.slice(0, APPS.indexOf(app)).map(labelOf))
      const own = { matchLabels: { [labelOf(app)]: 'true' } }
      const others = { matchExpressions: [{ key: labelOf(hand.pick(APPS)!), operator: 'Exists' }] }
      const isMixed = app === APPS[0] && hand.random.next() < 0.5
      const clusterRoleSelectors = isMixed ? [others, own] : [own]
      const rules = hand.random.next() < 0.2 ? [someRule(hand)] : []
      const aggregationRule = { clusterRoleSelectors }
      await hand.cluster.create(role(name, { metadata: { labels }, aggregationRule, rules }))
      return true
    },
  },
  {
    name: 'create a part of a sum',
    weight: 2,
    async act(hand) {
      const parts = hand.cluster.objects.all(resources.clusterroles).filter(isPart)
      if (parts.length >= MOST_PARTS) return false
      const rules = Array.from({ length: hand.number(1, 4) }, () => someRule(hand))
      const metadata = { labels: someLabels(hand, LABELS) }
      await hand.cluster.create(role(hand.fresh('part'), { metadata, rules }))
      return true
    },
  },
  {
    name: 'change a part of a sum',
    weight: 2,
    async act(hand) {
      const target = some(hand, isPart)
      if (target === undefined) return false
      const key = hand.pick(LABELS)!
      const labels = { [key]: target.metadata?.labels?.[key] === undefined ? 'true' : null }
      const change = hand.pick([{ metadata: { labels } }, { rules: [someRule(hand)] }])!
      await merge(hand, resources.clusterroles, target, change)
      return true
    },
  },
  {
    name: 'edit the rules of a sum',
    weight: 1,
    async act(hand) {
      const target = some(hand, ({ aggregationRule }) => aggregationRule != null)
      if (target === undefined) return false
      const rules = hand.pick([[], [someRule(hand)], (target.rules ?? []).slice(1)])
      await merge(hand, resources.clusterroles, target, { rules })
      return true
    },
  },
  {
    name: 'delete a sum or a part of one',
    weight: 1.5,
    async act(hand) {
      const target = some(hand, ({ metadata }) => NAMED.test(metadata?.name ?? ''))
      if (target === undefined) return false
      await hand.cluster.delete(resources.clusterroles, undefined, target.metadata?.name ?? '')
      return true
    },
  },
]
