/**
 * The objects that the server makes at its start and keeps alive.
 * Contract: docs/behaviour/api-server/subresources-and-admission.md, "What the server itself keeps".
 */
import { semanticEqual } from '@gyropilot/api'
import { every, formatTime } from '@gyropilot/foundation'
import type { Clock, Logger, RandomSource } from '@gyropilot/foundation'
import { SERVER_IDENTITY } from '../auth/index.ts'
import type { ServerInternals } from '../contracts.ts'
import type { Stored } from '@gyropilot/schema/objects'
import type { FieldManagement } from '../field-management/field-management-call.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import { parseCidr } from '@gyropilot/schema/validation/ip'
import { DEFAULT_SERVICE_RANGES } from '../service-ips/index.ts'
import { ServiceRange } from '../service-ips/service-ranges.ts'
import { builtInApiServices } from './api-services.ts'
import { keepConfigMaps } from './config-maps.ts'
import recorded from './generated/bootstrap-objects.json' with { type: 'json' }
import { keepFlowControl } from './flow-control.ts'
import { keepFlowSchemaStatus } from './flow-schema-status.ts'
import { gatedClusterRoleBindings, gatedClusterRoles } from './gated-roles.ts'
import { keepIdentityLease, serverIdentity } from './identity-lease.ts'
import { announceStorageVersions } from './storage-versions.ts'
import { Keeper } from './keeper.ts'
import type { KeptKind, RecordOwner } from './keeper.ts'
import { reconciledBinding, reconciledRole } from './rbac-reconciliation.ts'
import { keepServiceCidr } from './service-cidr.ts'
import { loggingFailures } from '../storage/own-writes.ts'

interface BootstrapOptions {
  readonly server: ServerInternals
  readonly registry: ResourceRegistry
  readonly fields: FieldManagement
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  /** Where pods and nodes reach this server: the endpoint of the service `kubernetes`. */
  readonly advertiseAddress: string
  readonly securePort: number
  /** Default `10.0.0.0/16`. */
  readonly serviceRanges?: readonly string[]
  readonly clientAuthorityPem?: string
  readonly frontProxyAuthorityPem?: string
  /** Whether a feature gate is on: some have roles. */
  isOn(gate: string): boolean
  /** Of the machine: this server keeps a Lease that is named after it. Absent: none. */
  readonly hostname?: string
}

export interface Bootstrapped {
  /** No more reconciling. */
  stop(): void
}

const RBAC = 'rbac.authorization.k8s.io'
const KIND = {
  namespaces: { ...kept('', 'v1', 'namespaces', 'Namespace'), unowned: 'spec' },
  endpoints: kept('', 'v1', 'endpoints', 'Endpoints'),
  endpointSlices: {
    ...kept('discovery.k8s.io', 'v1', 'endpointslices', 'EndpointSlice'),
    hasGeneration: true,
  },
  apiServices: kept('apiregistration.k8s.io', 'v1', 'apiservices', 'APIService'),
  clusterRoles: kept(RBAC, 'v1', 'clusterroles', 'ClusterRole'),
  clusterRoleBindings: kept(RBAC, 'v1', 'clusterrolebindings', 'ClusterRoleBinding'),
  roles: kept(RBAC, 'v1', 'roles', 'Role'),
  roleBindings: kept(RBAC, 'v1', 'rolebindings', 'RoleBinding'),
  priorityClasses: {
    ...kept('scheduling.k8s.io', 'v1', 'priorityclasses', 'PriorityClass'),
    hasGeneration: true,
  },
} as const satisfies Record<string, KeptKind>

const NAMESPACE_PERIOD_MS = 60_000
const SERVICE_PERIOD_MS = 10_000
const FLOW_CONTROL_PERIOD_MS = 60_000

export async function bootstrap(options: BootstrapOptions): Promise<Bootstrapped> {
  const { clock, random, server, serviceRanges: ranges = DEFAULT_SERVICE_RANGES } = options
  const chance = random.fork('bootstrap')
  const keeper = new Keeper(server.store, clock, chance, ownerRecorder(options))
  // What is refused is tried again at the next tick, and fails no start.
  const flowControl = (): Promise<void> =>
    keepFlowControl(keeper, server).catch((error: unknown) =>
      options.logger.error(error, 'Keeping the flow control of the server failed'),
    )
  keepNamespaces(keeper)
  keepRbac(keeper, options)
  for (const object of recorded.priorityClasses) keeper.ensure(KIND.priorityClasses, object)
  await flowControl()
  keepApiServices(keeper, options)
  keepServiceCidr(keeper, clock, ranges)
  const configMaps = keepConfigMaps({ ...options, keeper, store: server.store })
  const service = kubernetesService(ranges, options.securePort)
  // A failure (a full range, say, or a webhook that does not answer) is tried again at the next tick, and fails no start.
  const keepService = (): Promise<void> =>
    keepKubernetesService(keeper, options, service).catch((error: unknown) =>
      options.logger.error(error, 'Keeping the Service kubernetes failed'),
    )
  await keepService()
  const logged = (what: string, keep: () => void): (() => void) =>
    loggingFailures(options.logger, `Keeping the ${what} of the server failed`, keep)
  const timers = [
    every(
      clock,
      NAMESPACE_PERIOD_MS,
      logged('namespaces', () => keepNamespaces(keeper)),
    ),
    every(clock, FLOW_CONTROL_PERIOD_MS, () => void flowControl()),
    every(
      clock,
      SERVICE_PERIOD_MS,
      logged('ServiceCIDR', () => keepServiceCidr(keeper, clock, ranges)),
    ),
    every(clock, SERVICE_PERIOD_MS, () => void keepService()),
  ]
  const flowSchemas = keepFlowSchemaStatus(server.store, clock, options.logger)
  const { hostname, advertiseAddress, securePort, logger } = options
  if (hostname !== undefined) {
    const leases = (): readonly Stored[] =>
      server.list('coordination.k8s.io', 'leases', 'kube-system')
    const address = { hostname, advertiseAddress, securePort }
    timers.push(...keepIdentityLease({ keeper, clock, random: chance, logger, leases, ...address }))
    if (options.isOn('StorageVersionAPI')) {
      const apiServerID = serverIdentity(hostname)
      announceStorageVersions({ keeper, registry: options.registry, clock, apiServerID })
    }
  }
  return {
    stop() {
      flowSchemas.stop()
      configMaps.stop()
      for (const timer of timers) timer.cancel()
    },
  }
}

function ownerRecorder({ registry, fields, clock }: BootstrapOptions): RecordOwner {
  return ({ collection, apiVersion }, draft, before, manager) => {
    const [version, group = ''] = apiVersion.split('/').toReversed()
    const resource = registry.get(group, version!, collection.split('.', 1)[0]!)
    if (resource === undefined) return
    const warn = (): void => undefined
    // No webhook converts what the server begins with.
    void fields.update({
      resource,
      subresource: '',
      before,
      draft,
      manager,
      nowMs: clock.nowMs(),
      warn,
    })
  }
}

function kept(group: string, version: string, resource: string, kind: string): KeptKind {
  return group === ''
    ? { collection: resource, apiVersion: version, kind }
    : { collection: `${resource}.${group}`, apiVersion: `${group}/${version}`, kind }
}

function keepApiServices(keeper: Keeper, { clock, registry }: BootstrapOptions): void {
  const { served, unserved } = builtInApiServices(formatTime(clock.nowMs()), registry)
  for (const object of served) keeper.ensure(KIND.apiServices, object)
  for (const object of unserved)
    if (keeper.get(KIND.apiServices, object) !== undefined) keeper.delete(KIND.apiServices, object)
}

function keepNamespaces(keeper: Keeper): void {
  for (const object of recorded.namespaces) keeper.ensure(KIND.namespaces, object)
}

function keepRbac(keeper: Keeper, { isOn }: BootstrapOptions): void {
  for (const [kind, objects] of [
    [KIND.clusterRoles, gatedClusterRoles(recorded.clusterRoles, isOn)],
    [KIND.roles, recorded.roles],
  ] as const) {
    for (const expected of objects as readonly Stored[]) {
      const stored = keeper.get(kind, expected)
      const wanted = stored === undefined ? undefined : reconciledRole(expected, stored)
      if (stored === undefined) keeper.create(kind, expected)
      else if (wanted !== undefined) keeper.replace(kind, wanted)
    }
  }
  for (const [kind, objects] of [
    [KIND.clusterRoleBindings, gatedClusterRoleBindings(recorded.clusterRoleBindings, isOn)],
    [KIND.roleBindings, recorded.roleBindings],
  ] as const) {
    for (const expected of objects as readonly Stored[]) {
      const stored = keeper.get(kind, expected)
      const wanted = stored === undefined ? 'recreate' : reconciledBinding(expected, stored)
      if (wanted === undefined) continue
      if (wanted !== 'recreate') keeper.replace(kind, wanted)
      else {
        if (stored !== undefined) keeper.delete(kind, stored)
        keeper.create(kind, expected)
      }
    }
  }
}

async function keepKubernetesService(
  keeper: Keeper,
  { server, advertiseAddress, securePort }: BootstrapOptions,
  service: Stored,
): Promise<void> {
  if (server.get('', 'services', 'default', 'kubernetes') === undefined)
    await server.create('', 'services', service, SERVER_IDENTITY)
  const metadata = { name: 'kubernetes', namespace: 'default' }
  const port = { name: 'https', port: securePort, protocol: 'TCP' }
  const skipped = { 'endpointslice.kubernetes.io/skip-mirror': 'true' }
  const endpoints = {
    metadata: { ...metadata, labels: skipped },
    subsets: [{ addresses: [{ ip: advertiseAddress }], ports: [port] }],
  }
  // Whose labels others may add to; those of the slice are the server's.
  const known = keeper.get(KIND.endpoints, endpoints)?.['metadata'].labels
  keepContent(keeper, KIND.endpoints, endpoints, { ...known, ...skipped })
  const labels = { 'kubernetes.io/service-name': 'kubernetes' }
  const slice = {
    metadata: { ...metadata, labels },
    addressType: advertiseAddress.includes(':') ? 'IPv6' : 'IPv4',
    endpoints: [{ addresses: [advertiseAddress], conditions: { ready: true } }],
    ports: [port],
  }
  keepContent(keeper, KIND.endpointSlices, slice, labels)
}

function kubernetesService(cidrs: readonly string[], securePort: number): Stored {
  const clusterIP = firstAddress(cidrs)
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: 'kubernetes',
      namespace: 'default',
      labels: { component: 'apiserver', provider: 'kubernetes' },
    },
    spec: {
      type: 'ClusterIP',
      clusterIP,
      ipFamilyPolicy: 'SingleStack',
      sessionAffinity: 'None',
      ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: securePort }],
    },
  }
}

function firstAddress([cidr = '']: readonly string[]): string {
  const range = parseCidr(cidr)
  if (range === undefined) throw new Error(`the service range ${JSON.stringify(cidr)} is no CIDR`)
  return new ServiceRange(range).address(0n)
}

/** Labels and what stands beside the metadata are put back when somebody changed them. */
function keepContent(
  keeper: Keeper,
  kind: KeptKind,
  expected: Stored,
  labels: Readonly<Record<string, string>>,
): void {
  const stored = keeper.ensure(kind, expected)
  const { generation, ...metadata } = stored['metadata']
  const wanted = (next: unknown): Stored => ({
    ...stored,
    ...expected,
    metadata: { ...metadata, labels, ...(next === undefined ? {} : { generation: next }) },
  })
  if (semanticEqual(wanted(generation), stored)) return
  keeper.replace(kind, wanted(kind.hasGeneration === true ? (generation ?? 0) + 1 : generation))
}
