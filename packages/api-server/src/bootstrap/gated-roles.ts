/** Roles that a server keeps only while a gate is on that is off by default. A gate turned off again leaves what is stored, as upstream. */
import type { Stored } from '@gyropilot/schema/objects'

const RBAC_GROUP = 'rbac.authorization.k8s.io'
const CERTIFICATES = 'certificates.k8s.io'
const DEVICES = 'resource.k8s.io'
const INTERNAL = 'internal.apiserver.k8s.io'
const SCHEDULING = 'scheduling.k8s.io'
const READ = ['get', 'list', 'watch']
const EDIT = ['create', 'delete', 'deletecollection', 'patch', 'update']
const METADATA = {
  labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
  annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
}

interface GatedRole {
  readonly gate: string
  readonly name: string
  readonly rules: readonly Stored[]
  readonly subject: Stored
}

/** Of the scheduler and of who makes claims for groups. */
const handlesGroups = [
  rule([SCHEDULING], ['podgroups'], READ),
  rule([SCHEDULING], ['podgroups/status'], ['patch', 'update']),
]
const readsBundles = rule([CERTIFICATES], ['clustertrustbundles'], READ)

const ROLES: readonly GatedRole[] = [
  {
    gate: 'ClusterTrustBundle',
    name: 'system:cluster-trust-bundle-discovery',
    rules: [readsBundles],
    subject: { kind: 'Group', apiGroup: RBAC_GROUP, name: 'system:serviceaccounts' },
  },
  {
    gate: 'ClusterTrustBundle',
    name: 'system:controller:kube-apiserver-serving-clustertrustbundle-publisher',
    rules: [
      {
        ...rule([CERTIFICATES], ['signers'], ['attest']),
        resourceNames: ['kubernetes.io/kube-apiserver-serving'],
      },
      rule(
        [CERTIFICATES],
        ['clustertrustbundles'],
        ['create', 'delete', 'list', 'update', 'watch'],
      ),
      rule(['', 'events.k8s.io'], ['events'], ['create', 'patch', 'update']),
    ],
    subject: {
      kind: 'ServiceAccount',
      name: 'kube-apiserver-serving-clustertrustbundle-publisher',
      namespace: 'kube-system',
    },
  },
  {
    gate: 'GenericWorkload',
    name: 'system:controller:podgroup-protection-controller',
    rules: [
      rule([SCHEDULING], ['podgroups'], ['get', 'list', 'update', 'watch']),
      rule([''], ['pods'], READ),
    ],
    subject: {
      kind: 'ServiceAccount',
      name: 'podgroup-protection-controller',
      namespace: 'kube-system',
    },
  },
  {
    gate: 'PodCertificateRequest',
    name: 'system:controller:podcertificaterequestcleaner',
    rules: [rule([CERTIFICATES], ['podcertificaterequests'], ['delete', 'get', 'list', 'watch'])],
    subject: {
      kind: 'ServiceAccount',
      name: 'podcertificaterequestcleaner',
      namespace: 'kube-system',
    },
  },
  {
    gate: 'DRAResourcePoolStatus',
    name: 'system:controller:resourcepoolstatusrequest-controller',
    rules: [
      rule([DEVICES], ['resourcepoolstatusrequests'], ['delete', 'get', 'list', 'watch']),
      rule([DEVICES], ['resourcepoolstatusrequests/status'], ['patch', 'update']),
      rule([DEVICES], ['resourceslices'], READ),
      rule([DEVICES], ['resourceclaims'], READ),
      rule(['', 'events.k8s.io'], ['events'], ['create', 'patch', 'update']),
    ],
    subject: {
      kind: 'ServiceAccount',
      name: 'resourcepoolstatusrequest-controller',
      namespace: 'kube-system',
    },
  },
  {
    gate: 'StorageVersionAPI',
    name: 'system:controller:storage-version-garbage-collector',
    rules: [
      rule(['coordination.k8s.io'], ['leases'], READ),
      rule([INTERNAL], ['storageversions'], ['delete', 'get', 'list', 'patch', 'update', 'watch']),
      rule([INTERNAL], ['storageversions/status'], ['get', 'patch', 'update']),
    ],
    subject: {
      kind: 'ServiceAccount',
      name: 'storage-version-garbage-collector',
      namespace: 'kube-system',
    },
  },
  {
    gate: 'StorageVersionMigrator',
    name: 'system:controller:storage-version-migrator-controller',
    rules: [
      rule(['*'], ['*'], ['create', 'list', 'patch']),
      rule(['apiextensions.k8s.io'], ['customresourcedefinitions'], ['get']),
      rule(['apiextensions.k8s.io'], ['customresourcedefinitions/status'], ['patch']),
      rule(['storagemigration.k8s.io'], ['storageversionmigrations/status'], ['update']),
    ],
    subject: {
      kind: 'ServiceAccount',
      name: 'storage-version-migrator-controller',
      namespace: 'kube-system',
    },
  },
]

interface AddedRules {
  readonly gate: string
  readonly role: string
  readonly rules: readonly Stored[]
  /** Rules of the role that stand behind them. */
  readonly behind: number
}

const ADDED_RULES: readonly AddedRules[] = [
  { gate: 'ClusterTrustBundleProjection', role: 'system:node', rules: [readsBundles], behind: 1 },
  {
    gate: 'DRADeviceTaintRules',
    role: 'system:controller:device-taint-eviction-controller',
    rules: [
      rule([DEVICES], ['devicetaintrules/status'], ['patch', 'update']),
      rule([DEVICES], ['devicetaintrules'], READ),
    ],
    behind: 0,
  },
  {
    gate: 'DRADeviceTaintRules',
    role: 'system:kube-scheduler',
    rules: [rule([DEVICES], ['devicetaintrules'], READ)],
    behind: 1,
  },
  {
    gate: 'GenericWorkload',
    role: 'system:aggregate-to-edit',
    rules: [rule([SCHEDULING], ['podgroups', 'workloads'], EDIT)],
    behind: 0,
  },
  {
    gate: 'GenericWorkload',
    role: 'system:aggregate-to-view',
    rules: [rule([SCHEDULING], ['podgroups', 'podgroups/status', 'workloads'], READ)],
    behind: 0,
  },
  {
    gate: 'GenericWorkload',
    role: 'system:kube-scheduler',
    rules: handlesGroups,
    behind: 0,
  },
  {
    gate: 'PodCertificateRequest',
    role: 'system:node',
    rules: [rule([CERTIFICATES], ['podcertificaterequests'], ['create', 'get', 'list', 'watch'])],
    behind: 0,
  },
  {
    gate: 'WorkloadWithJob',
    role: 'system:controller:job-controller',
    rules: [rule([SCHEDULING], ['podgroups', 'workloads'], ['create', 'get', 'list', 'watch'])],
    behind: 0,
  },
  {
    gate: 'DRAWorkloadResourceClaims',
    role: 'system:controller:resource-claim-controller',
    rules: handlesGroups,
    behind: 1,
  },
]

/** `roles` with what the gates that are on add to them. */
export function gatedClusterRoles(
  roles: readonly Stored[],
  isOn: (gate: string) => boolean,
): readonly Stored[] {
  const extended = ADDED_RULES.filter(({ gate }) => isOn(gate)).reduce(
    (all: readonly Stored[], added) =>
      all.map((one) => (one['metadata'].name === added.role ? withRules(one, added) : one)),
    roles,
  )
  const own = ROLES.filter(({ gate }) => isOn(gate)).map(({ name, rules }) => ({
    metadata: { name, ...METADATA },
    rules,
  }))
  return [...extended, ...own]
}

/** `bindings`, and those of the roles that gates add. */
export function gatedClusterRoleBindings(
  bindings: readonly Stored[],
  isOn: (gate: string) => boolean,
): readonly Stored[] {
  const own = ROLES.filter(({ gate }) => isOn(gate)).map(({ name, subject }) => ({
    metadata: { name, ...METADATA },
    subjects: [subject],
    roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name },
  }))
  return [...bindings, ...own]
}

function withRules(role: Stored, { rules: added, behind }: AddedRules): Stored {
  const rules: readonly Stored[] = role['rules']
  const at = rules.length - behind
  return { ...role, rules: [...rules.slice(0, at), ...added, ...rules.slice(at)] }
}

function rule(
  apiGroups: readonly string[],
  resources: readonly string[],
  verbs: readonly string[],
): Stored {
  return { verbs, apiGroups, resources }
}
