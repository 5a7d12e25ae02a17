/**
 * Which versions a server serves beyond its default, as kube-apiserver's --runtime-config says it.
 * An entry of its own, `@gyropilot/api-server/runtime-config`, because a command line is checked before a server is loaded.
 */
import { resourceTable, resourceTableOnRequest } from '@gyropilot/api'
import type { DiscoveredResource } from '@gyropilot/api'

/** `coordination.k8s.io/v1beta1` -> whether it is served. Absent: as by default. */
export type RuntimeConfig = Readonly<Record<string, boolean>>

/** Gates that are off by default and without which a version has not these resources. */
const GATES: Readonly<Record<string, string>> = {
  'certificates.k8s.io/v1alpha1/clustertrustbundles': 'ClusterTrustBundle',
  'certificates.k8s.io/v1beta1/clustertrustbundles': 'ClusterTrustBundle',
  'certificates.k8s.io/v1beta1/podcertificaterequests': 'PodCertificateRequest',
  'scheduling.k8s.io/v1alpha2/podgroups': 'GenericWorkload',
  'scheduling.k8s.io/v1alpha2/workloads': 'GenericWorkload',
  'storagemigration.k8s.io/v1beta1/storageversionmigrations': 'StorageVersionMigrator',
}

/** Not served by default. */
const ON_REQUEST: ReadonlySet<string> = new Set(resourceTableOnRequest.map(groupVersionOf))
const ALWAYS: ReadonlySet<string> = new Set(resourceTable.map(groupVersionOf))

/** From `group/version` or `group/version=true|false`, one per item; the last of several holds. A text says what is wrong. */
export function parseRuntimeConfig(items: readonly string[]): RuntimeConfig | string {
  const config: Record<string, boolean> = {}
  for (const item of items) {
    const equals = item.indexOf('=')
    const name = equals < 0 ? item : item.slice(0, equals)
    const value = equals < 0 ? 'true' : item.slice(equals + 1)
    if (value !== 'true' && value !== 'false') return `${name}=${value}: use true or false`
    for (const one of versionsOf(name)) config[one] = value === 'true'
  }
  return runtimeConfigProblem(config) ?? config
}

/** `api/all`, `api/beta` and `api/alpha` stand for the versions of that kind that are not served by default. */
function versionsOf(name: string): readonly string[] {
  const [, stage] = /^api\/(all|ga|beta|alpha)$/.exec(name) ?? []
  if (stage === undefined) return [name]
  return [...ON_REQUEST].filter((one) => stage === 'all' || one.includes(stage))
}

/** Undefined: the server can do as it is told. */
export function runtimeConfigProblem(config: RuntimeConfig): string | undefined {
  for (const [name, isOn] of Object.entries(config)) {
    if (ON_REQUEST.has(name)) continue
    if (!ALWAYS.has(name))
      return `${JSON.stringify(name)} is not known: use ${[...ON_REQUEST].join(', ')}`
    if (!isOn) return `${name} cannot be turned off`
  }
  return undefined
}

/** What `config` adds to what is served by default, of that whose gates are on. */
function servedOnRequest(
  config: RuntimeConfig = {},
  isOn: (gate: string) => boolean = () => false,
): readonly DiscoveredResource[] {
  return resourceTableOnRequest.filter((one) => {
    const groupVersion = groupVersionOf(one)
    const gate = GATES[`${groupVersion}/${one.resource}`]
    return config[groupVersion] === true && (gate === undefined || isOn(gate))
  })
}

/** What discovery tells, with what `config` and gates add. Throws for a version that is not known. */
export function servedTable(
  config: RuntimeConfig = {},
  isOn?: (gate: string) => boolean,
): readonly DiscoveredResource[] {
  const problem = runtimeConfigProblem(config)
  if (problem !== undefined) throw new Error(`runtime config: ${problem}`)
  const added = servedOnRequest(config, isOn)
  return added.length === 0 ? resourceTable : [...resourceTable, ...added]
}

function groupVersionOf({ group, version }: Pick<DiscoveredResource, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`
}
