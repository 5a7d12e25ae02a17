/** Which kinds depend on which: where to look for dependents that no informer has shown yet. */
import type { ObjectIdentity } from '../graph/identity.ts'

type Kind = Pick<ObjectIdentity, 'apiVersion' | 'kind'>

const PODS: Kind = { apiVersion: 'v1', kind: 'Pod' }
const CLAIMS: Kind = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' }
const REVISIONS: Kind = { apiVersion: 'apps/v1', kind: 'ControllerRevision' }

/** Of the controllers that every cluster runs: known before the first of them is seen. */
const USUAL: readonly (readonly [owner: Kind, dependents: readonly Kind[]])[] = [
  [{ apiVersion: 'v1', kind: 'ReplicationController' }, [PODS]],
  [{ apiVersion: 'apps/v1', kind: 'ReplicaSet' }, [PODS]],
  [{ apiVersion: 'apps/v1', kind: 'Deployment' }, [{ apiVersion: 'apps/v1', kind: 'ReplicaSet' }]],
  [{ apiVersion: 'apps/v1', kind: 'StatefulSet' }, [PODS, REVISIONS, CLAIMS]],
  [{ apiVersion: 'apps/v1', kind: 'DaemonSet' }, [PODS, REVISIONS]],
  [{ apiVersion: 'batch/v1', kind: 'Job' }, [PODS]],
  [{ apiVersion: 'batch/v1', kind: 'CronJob' }, [{ apiVersion: 'batch/v1', kind: 'Job' }]],
  [
    { apiVersion: 'v1', kind: 'Service' },
    [{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' }],
  ],
]

/** Grows with the pairs of kinds in the cluster, not with its objects; never shrinks. */
export class DependentKinds {
  /** By group and kind of the owner, then by version and kind of the dependent. */
  readonly #kinds = new Map<string, Map<string, Kind>>()

  constructor() {
    for (const [owner, dependents] of USUAL) {
      for (const dependent of dependents) this.learn(owner, dependent)
    }
  }

  learn(owner: Kind, { apiVersion, kind }: Kind): void {
    const ownerKey = keyOf(owner)
    let dependents = this.#kinds.get(ownerKey)
    if (dependents === undefined) this.#kinds.set(ownerKey, (dependents = new Map()))
    const key = `${apiVersion}/${kind}`
    if (!dependents.has(key)) dependents.set(key, { apiVersion, kind })
  }

  of(owner: Kind): Iterable<Kind> {
    return this.#kinds.get(keyOf(owner))?.values() ?? []
  }
}

/** Without the version: an owner is the same in all of them. */
function keyOf({ apiVersion, kind }: Kind): string {
  return `${apiVersion.slice(0, apiVersion.indexOf('/') + 1)}${kind}`
}
