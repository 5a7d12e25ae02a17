/** Which lock a controller runs under while loops move between managers. Contract: docs/behaviour/runtime/manager.md, Leader migration. */
import { errorText } from '@gyropilot/foundation'
import type { HostEnvironment } from '@gyropilot/foundation'
import type { YamlDocument } from '@gyropilot/foundation/yaml'
import { managerErrors } from '../errors.ts'

const API_VERSIONS = ['v1', 'v1beta1', 'v1alpha1'].map(
  (v) => `controllermanager.config.k8s.io/${v}`,
)

export interface LeaderMigration {
  readonly leaderName: string
  readonly resourceLock: string
  readonly controllerLeaders: readonly ControllerLeader[]
}

interface ControllerLeader {
  readonly name: string
  /** The manager that runs it; `*` is any. */
  readonly component: string
}

/** The names are those of long ago: of today's controllers only the last is meant. */
export const defaultLeaderMigration: LeaderMigration = {
  leaderName: 'cloud-provider-extraction-migration',
  resourceLock: 'leases',
  controllerLeaders: [
    'route-controller',
    'service-controller',
    'cloud-node-lifecycle-controller',
  ].map((name) => ({ name, component: '*' })),
}

export type Lock = 'main' | 'migration' | 'not-run-here'

/** Under which lock the controller of this name runs in this component, `kube-controller-manager`. */
export function lockOf(migration: LeaderMigration, controller: string, component: string): Lock {
  const listed = migration.controllerLeaders.findLast(({ name }) => name === controller)
  if (listed === undefined) return 'main'
  return listed.component === component || listed.component === '*' ? 'migration' : 'not-run-here'
}

/** What the file says; the default without a path. */
export async function loadLeaderMigration(
  path: string,
  host: Pick<HostEnvironment, 'readTextFile'>,
): Promise<LeaderMigration> {
  if (path === '') return defaultLeaderMigration
  let text: string
  try {
    text = await host.readTextFile(path)
  } catch (error) {
    const message = `unable to read leader migration configuration from ${JSON.stringify(path)}: ${errorText(error)}`
    throw managerErrors.make('OPTIONS_INVALID', message, { cause: error })
  }
  return parseLeaderMigration(text, path)
}

/** A LeaderMigrationConfiguration in YAML or JSON; an unknown or repeated field is refused. */
export async function parseLeaderMigration(text: string, path: string): Promise<LeaderMigration> {
  const problem = (detail: string): Error =>
    managerErrors.make(
      'OPTIONS_INVALID',
      `error reading leader migration config at ${path}: ${detail}`,
    )
  const { readYaml } = await import('@gyropilot/foundation/yaml')
  let document: YamlDocument
  try {
    document = readYaml(text)
  } catch (error) {
    throw problem(errorText(error))
  }
  const root = fieldsOf(document.root?.value)
  if (root === undefined) throw problem('the file holds no object')
  const { apiVersion, kind, leaderName, resourceLock, controllerLeaders, ...unknown } = root
  if (!API_VERSIONS.includes(String(apiVersion)) || kind !== 'LeaderMigrationConfiguration') {
    throw problem(
      `no kind ${JSON.stringify(kind ?? '')} is registered for version ${JSON.stringify(apiVersion ?? '')}`,
    )
  }
  const mistakes = Object.keys(unknown).map((name) => `unknown field ${JSON.stringify(name)}`)
  const leaders = leadersOf(controllerLeaders ?? [], mistakes)
  if (document.repeatedKeys.length > 0) {
    const repeated = document.repeatedKeys.map((key) => `\n  ${key.problem}`)
    mistakes.unshift(`yaml: unmarshal errors:${repeated.join('')}`)
  }
  if (mistakes.length > 0) throw problem(`strict decoding error: ${mistakes.join(', ')}`)
  const migration = {
    leaderName: textOf(leaderName),
    resourceLock: textOf(resourceLock),
    controllerLeaders: leaders,
  }
  const faults = faultsOf(migration)
  if (faults.length > 0) throw problem(faults.join(', '))
  return { ...migration, resourceLock: migration.resourceLock || 'leases' }
}

function leadersOf(value: unknown, problems: string[]): readonly ControllerLeader[] {
  if (!Array.isArray(value)) {
    problems.push('controllerLeaders must be a list')
    return []
  }
  return value.map((item: unknown, index) => {
    const { name, component, ...unknown } = fieldsOf(item) ?? {}
    for (const field of Object.keys(unknown)) {
      problems.push(`unknown field ${JSON.stringify(`controllerLeaders[${index}].${field}`)}`)
    }
    return { name: textOf(name), component: textOf(component) }
  })
}

function faultsOf(migration: LeaderMigration): readonly string[] {
  const faults: string[] = []
  if (migration.leaderName === '')
    faults.push('leaderName: Required value: leaderName must be set for LeaderMigration')
  if (migration.resourceLock !== '' && migration.resourceLock !== 'leases') {
    faults.push(
      `resourceLock: Invalid value: ${JSON.stringify(migration.resourceLock)}: resource Lock must be "leases"`,
    )
  }
  migration.controllerLeaders.forEach(({ name, component }, index) => {
    if (name === '')
      faults.push(`controllerLeaders[${index}].name: Required value: name must be set`)
    if (component === '')
      faults.push(`controllerLeaders[${index}].component: Required value: component must be set`)
  })
  return faults
}

function fieldsOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
