import { keyOf } from '@gyropilot/api'
import type { RequestFacts } from '../simulated/request-facts.ts'
import type { ClusterObserver } from '../simulated/cluster-observer.ts'
import type { Report } from './violation.ts'

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end'

/** Commits are numbered one by one, and no watch goes back in time. */
export function revisionOrder(report: Report): ClusterObserver {
  let committed = 0
  const lastOf = new WeakMap<RequestFacts, number>()
  const pastInitial = new WeakSet<RequestFacts>()
  return {
    committed({ revision, key, collection }) {
      if (committed !== 0 && revision !== committed + 1)
        report('revision order', `${collection} ${key} at ${revision} after ${committed}`)
      committed = revision
    },
    delivered(facts, event) {
      if (event.type === 'ERROR') return
      const { object } = event
      const revision = Number(object.metadata?.resourceVersion ?? 0)
      const streams = facts.path.includes('sendInitialEvents=true')
      if (streams && !pastInitial.has(facts)) {
        if (object.metadata?.annotations?.[INITIAL_EVENTS_END] === 'true') {
          pastInitial.add(facts)
          lastOf.set(facts, revision)
        }
        return
      }
      const last = lastOf.get(facts) ?? startOf(facts)
      const isLater = event.type === 'BOOKMARK' ? revision >= last : revision > last
      if (!isLater)
        report(
          'revision order',
          `${facts.process} was sent ${facts.collection} ${keyOf(object)} at ${revision} after ${last}`,
        )
      lastOf.set(facts, revision)
    },
  }
}

/** A watch begins behind the version that its reader has; without one, or with 0, it begins anywhere. */
function startOf({ path }: RequestFacts): number {
  const query = path.slice(path.indexOf('?') + 1)
  return Number(new URLSearchParams(query).get('resourceVersion') ?? 0)
}
