/** The smallest migrations, and a server that has resources. */
import type {
  DiscoveredResource,
  KubernetesObject,
  Condition,
  StorageVersionMigration,
} from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import type { Outcome } from '@gyropilot/runtime'
import { NOW_MS } from '../workload-support/fixtures.ts'

const NOW_TEXT = formatTime(NOW_MS)

type Said = 'running' | 'released' | 'succeeded' | 'failed'

const CONDITIONS: Readonly<Record<Said, Condition>> = {
  running: condition('Running', 'True', 'MigrationRunning', 'The migration is running'),
  released: condition('Running', 'False', 'MigrationCompleted', 'Migration completed'),
  succeeded: condition('Succeeded', 'True', 'StorageVersionMigrationSucceeded', ''),
  failed: condition('Failed', 'True', 'StorageVersionMigrationFailed', 'why'),
}

export function condition(
  type: string,
  status: string,
  reason: string,
  message: string,
): Condition {
  return { type, status, lastTransitionTime: NOW_TEXT, reason, message }
}

interface MigrationGiven {
  readonly name?: string
  readonly ageMs?: number
  readonly group?: string
  readonly resource?: string
  readonly resourceVersion?: string
}

export function migration(
  said: readonly Said[] = [],
  given: MigrationGiven = {},
): StorageVersionMigration {
  const { name = 'm', ageMs = 0, group = 'apps', resource = 'deployments', resourceVersion } = given
  return {
    apiVersion: 'storagemigration.k8s.io/v1beta1',
    kind: 'StorageVersionMigration',
    metadata: { name, resourceVersion: '3', creationTimestamp: formatTime(NOW_MS - ageMs) },
    spec: { resource: { group, resource } },
    status: {
      ...(said.length > 0 ? { conditions: said.map((each) => CONDITIONS[each]) } : {}),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
  }
}

/** The same with what is said now; what it says already stays. */
export function says(
  before: StorageVersionMigration,
  ...conditions: readonly Condition[]
): StorageVersionMigration {
  return { ...before, status: { ...before.status, conditions } }
}

export function discoveredResource(given: Partial<DiscoveredResource> = {}): DiscoveredResource {
  return {
    group: 'apps',
    version: 'v1',
    resource: 'deployments',
    singular: 'deployment',
    kind: 'Deployment',
    namespaced: true,
    shortNames: [],
    categories: [],
    verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
    subresources: [],
    ...given,
  }
}

/** The answer of discovery. */
export function discovery(
  resources: readonly DiscoveredResource[],
  failed: Readonly<Record<string, string>> = {},
): Outcome {
  const versions = new Map(resources.map(({ group, version }) => [group, [version]]))
  const discovered = { resources, versions, failed: new Map(Object.entries(failed)) }
  return { ok: true, object: discovered as unknown as KubernetesObject }
}
