/** PodGroups and Workloads, as kube-apiserver 1.36.2 answered. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer } from '../../testing/test-server.ts'
import { createErrors, statusErrors, updateErrors } from '../fixtures.ts'

const GROUP = 'scheduling.k8s.io'
const POD_GROUP = { group: GROUP, version: 'v1alpha2', kind: 'PodGroup' }
const WORKLOAD = { group: GROUP, version: 'v1alpha2', kind: 'Workload' }
const BASIC = { basic: {} }
const GANG = { gang: { minCount: 2 } }
const LABEL = /Invalid value: "A_": a lowercase RFC 1123 label must/
const SUBDOMAIN = /Invalid value: "A_": a lowercase RFC 1123 subdomain must/
const group = (more: object = {}): object => ({ spec: { schedulingPolicy: BASIC, ...more } })
const templates = (...podGroupTemplates: readonly object[]): object => ({
  spec: { podGroupTemplates },
})
const template = (more: object = {}): object => ({
  name: 't',
  schedulingPolicy: BASIC,
  ...more,
})
const policyOf = (schedulingPolicy: object): object => ({ spec: { schedulingPolicy } })
const claim = (name: string, more: object = { resourceClaimName: 'x' }): object => ({
  name,
  ...more,
})
const AT = 'spec.schedulingPolicy'
const CLAIMS = '`resourceClaimName`, `resourceClaimTemplateName`'

const GROUPS: readonly (readonly [string, object, readonly (string | RegExp)[]])[] = [
  ['one by one', group(), []],
  ['a gang', policyOf(GANG), []],
  ['no policy', {}, [`${AT}: Invalid value: "": must specify one of: \`basic\`, \`gang\``]],
  [
    'two policies',
    policyOf({ ...BASIC, ...GANG }),
    [`${AT}: Invalid value: "{basic, gang}": must specify exactly one of: \`basic\`, \`gang\``],
  ],
  ['a gang of nobody', policyOf({ gang: {} }), [`${AT}.gang.minCount: Required value`]],
  [
    'a gang of less',
    policyOf({ gang: { minCount: -1 } }),
    [`${AT}.gang.minCount: Invalid value: -1: must be greater than or equal to 1`],
  ],
  [
    'of no template',
    group({ podGroupTemplateRef: {} }),
    ['spec.podGroupTemplateRef: Invalid value: "": must specify one of: `workload`'],
  ],
  [
    'of a template without names',
    group({ podGroupTemplateRef: { workload: {} } }),
    [
      'spec.podGroupTemplateRef.workload.workloadName: Required value',
      'spec.podGroupTemplateRef.workload.podGroupTemplateName: Required value',
    ],
  ],
  [
    'of a template with bad names',
    group({
      podGroupTemplateRef: { workload: { workloadName: 'A_', podGroupTemplateName: 'A_' } },
    }),
    [SUBDOMAIN, LABEL],
  ],
  [
    'two topologies',
    group({ schedulingConstraints: { topology: [{ key: 'a' }, { key: 'b' }] } }),
    ['spec.schedulingConstraints.topology: Too many: 2: must have at most 1 item'],
  ],
  [
    'a topology without a key',
    group({ schedulingConstraints: { topology: [{}] } }),
    ['spec.schedulingConstraints.topology[0].key: Required value'],
  ],
  [
    'claims',
    group({
      resourceClaims: [
        claim('A_'),
        claim('b', {}),
        claim('', { resourceClaimName: 'A_', resourceClaimTemplateName: 'y' }),
        claim('d', { resourceClaimTemplateName: 'A_' }),
      ],
    }),
    [
      LABEL,
      `spec.resourceClaims[1]: Invalid value: "": must specify one of: ${CLAIMS}`,
      `spec.resourceClaims[2]: Invalid value: "{resourceClaimName, resourceClaimTemplateName}": must specify exactly one of: ${CLAIMS}`,
      'spec.resourceClaims[2].name: Required value',
      SUBDOMAIN,
      SUBDOMAIN,
    ],
  ],
  [
    'a claim twice',
    group({ resourceClaims: [claim('a'), claim('a', { resourceClaimName: 'y' })] }),
    ['spec.resourceClaims[1]: Duplicate value: {"name":"a","resourceClaimName":"y"}'],
  ],
  [
    'five claims',
    group({ resourceClaims: ['a', 'b', 'c', 'd', 'e'].map((name) => claim(name)) }),
    ['spec.resourceClaims: Too many: 5: must have at most 4 items'],
  ],
  [
    'another mode',
    group({ disruptionMode: 'X' }),
    ['spec.disruptionMode: Unsupported value: "X": supported values: "Pod", "PodGroup"'],
  ],
  [
    'a priority of the system',
    group({ priority: 1_000_000_001 }),
    ['spec.priority: Invalid value: 1000000001: must be less than or equal to 1000000000'],
  ],
]

const WORKLOADS: readonly (readonly [string, object, readonly (string | RegExp)[]])[] = [
  ['one template', templates(template()), []],
  ['no templates', templates(), ['spec.podGroupTemplates: Required value']],
  [
    'nine templates',
    templates(...Array.from({ length: 9 }, (_, at) => template({ name: `t${at}` }))),
    ['spec.podGroupTemplates: Too many: 9: must have at most 8 items'],
  ],
  [
    'a template twice',
    templates(template(), template()),
    [
      'spec.podGroupTemplates[1]: Duplicate value: {"name":"t","schedulingPolicy":{"basic":{}},"schedulingConstraints":null}',
    ],
  ],
  [
    'a template without name and policy',
    templates({}),
    [
      'spec.podGroupTemplates[0].name: Required value',
      'spec.podGroupTemplates[0].schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`',
    ],
  ],
  [
    'a long name',
    templates(template({ name: 'a'.repeat(64) })),
    [/^spec\.podGroupTemplates\[0\]\.name: .*: must be no more than 63 bytes$/],
  ],
  [
    'no mode',
    templates(template({ disruptionMode: '' })),
    [
      'spec.podGroupTemplates[0].disruptionMode: Unsupported value: "": supported values: "Pod", "PodGroup"',
    ],
  ],
  [
    'a controller without kind and name',
    { spec: { controllerRef: {}, podGroupTemplates: [template()] } },
    ['spec.controllerRef.kind: Required value', 'spec.controllerRef.name: Required value'],
  ],
  [
    'a controller whose names fit into no path',
    {
      spec: {
        controllerRef: { apiGroup: 'A_', kind: 'a/b', name: '..' },
        podGroupTemplates: [template()],
      },
    },
    [
      SUBDOMAIN,
      `spec.controllerRef.kind: Invalid value: "a/b": may not contain '/'`,
      `spec.controllerRef.name: Invalid value: "..": may not be '..'`,
    ],
  ],
]

for (const [type, cases] of [
  [POD_GROUP, GROUPS],
  [WORKLOAD, WORKLOADS],
] as const)
  for (const [title, object, wanted] of cases) {
    test(`a ${type.kind}: ${title}`, () => {
      const found = createErrors(type, object)
      assert.equal(found.length, wanted.length, found.join('\n'))
      for (const [index, text] of wanted.entries())
        if (typeof text === 'string') assert.equal(found[index], text)
        else assert.match(found[index]!, text)
    })
  }

test('what is said of a group cannot change, and is not judged again', () => {
  const after = {
    podGroupTemplateRef: {},
    schedulingPolicy: { gang: {} },
    schedulingConstraints: {},
    resourceClaims: [claim('A_')],
    disruptionMode: 'PodGroup',
    priorityClassName: 'x',
    priority: 1,
  }
  assert.deepEqual(
    updateErrors(POD_GROUP, group(), { spec: after }),
    Object.keys(after).map((field) => `spec.${field}: Invalid value: null: field is immutable`),
  )
  const [at, old] = ['spec.podGroupTemplates', templates(template())]
  const fixed = `${at}: Invalid value: null: field is immutable`
  assert.deepEqual(updateErrors(WORKLOAD, old, templates(template({ name: 'u' }))), [fixed])
  assert.deepEqual(updateErrors(WORKLOAD, old, templates()), [fixed, `${at}: Required value`])
})

test('the status of a group tells of its own claims', () => {
  const spec = { schedulingPolicy: BASIC, resourceClaims: [claim('a')] }
  const told = (...resourceClaimStatuses: readonly object[]): readonly string[] =>
    statusErrors(POD_GROUP, { spec }, { spec, status: { resourceClaimStatuses } })
  const UNKNOWN = 'must match the name of an entry in `spec.resourceClaims`'
  assert.deepEqual(told({ name: 'a' }), [])
  assert.deepEqual(told(claim('q'), claim('q')), [
    `status.resourceClaimStatuses[0].name: Invalid value: "q": ${UNKNOWN}`,
    `status.resourceClaimStatuses[1].name: Invalid value: "q": ${UNKNOWN}`,
    'status.resourceClaimStatuses[1]: Duplicate value: {"name":"q","resourceClaimName":"x"}',
  ])
  assert.match(told(claim('a', { resourceClaimName: 'A_' }))[0]!, SUBDOMAIN)
  const many = Array<object>(5).fill(claim('a'))
  assert.match(told(...many).join(), /^\S+Statuses: Too many: 5: must have at most 4 items$/)
})

const PATH = '/apis/scheduling.k8s.io/v1alpha2/namespaces/default'
const WORKLOAD_GATES = { GenericWorkload: true }
const ON = { runtimeConfig: { 'scheduling.k8s.io/v1alpha2': true }, featureGates: WORKLOAD_GATES }
const ALL = {
  ...ON,
  featureGates: {
    ...WORKLOAD_GATES,
    DRAWorkloadResourceClaims: true,
    TopologyAwareWorkloadScheduling: true,
    WorkloadAwarePreemption: true,
  },
}
const MERGE = { 'content-type': 'application/merge-patch+json' }
const FINALIZER = 'scheduling.k8s.io/podgroup-protection'
const FULL = {
  schedulingConstraints: { topology: [{ key: 'zone' }] },
  resourceClaims: [claim('a')],
  disruptionMode: 'PodGroup',
}

test('without the gate there is no such version', async () => {
  const { request } = await createTestServer({ runtimeConfig: ON.runtimeConfig })
  const { versions } = (await request('GET', '/apis/scheduling.k8s.io')).value
  assert.equal(versions.length, 1)
  assert.equal((await request('GET', `${PATH}/podgroups`)).status, 404)
})

test('fields whose gates are off are dropped, and a group is disrupted pod by pod', async () => {
  const { request } = await createTestServer(ON)
  const body = { metadata: { name: 'a' }, ...group({ ...FULL, priority: 7 }) }
  const { value } = await request('POST', `${PATH}/podgroups`, body)
  assert.deepEqual(value.spec, {
    podGroupTemplateRef: null,
    schedulingPolicy: BASIC,
    disruptionMode: 'Pod',
  })
  assert.equal(value.metadata.generation, undefined)
  const workload = { metadata: { name: 'a' }, ...templates(template(FULL)) }
  const made = await request('POST', `${PATH}/workloads`, workload)
  assert.deepEqual(made.value.spec.podGroupTemplates, [template({ schedulingConstraints: null })])
  const patch = { spec: { disruptionMode: 'PodGroup' } }
  const refused = await request('PATCH', `${PATH}/podgroups/a`, patch, MERGE)
  assert.match(refused.value.message, /: spec\.disruptionMode: Forbidden$/)
})

test('with their gates they are kept', async () => {
  const { request } = await createTestServer(ALL)
  const body = { metadata: { name: 'a' }, ...group(FULL) }
  const { value } = await request('POST', `${PATH}/podgroups`, body)
  assert.deepEqual(value.spec, {
    podGroupTemplateRef: null,
    schedulingPolicy: BASIC,
    ...FULL,
    priority: 0,
  })
})

test('a new group gets the finalizer that holds it while pods run, once and behind its own', async () => {
  const { request } = await createTestServer(ON)
  const finalizersOf = async (name: string, finalizers: readonly string[]) => {
    const body = { metadata: { name, finalizers }, ...group() }
    return (await request('POST', `${PATH}/podgroups`, body)).value.metadata.finalizers
  }
  assert.deepEqual(await finalizersOf('a', ['a/b']), ['a/b', FINALIZER])
  assert.deepEqual(await finalizersOf('b', [FINALIZER, 'a/b']), [FINALIZER, 'a/b'])
})

test('a group is made from a template that is there', async () => {
  const { request } = await createTestServer(ON)
  await request('POST', `${PATH}/workloads`, { metadata: { name: 'w' }, ...templates(template()) })
  const create = async (workloadName: string, podGroupTemplateName: string) => {
    const podGroupTemplateRef = { workload: { workloadName, podGroupTemplateName } }
    const metadata = { name: `${workloadName}-${podGroupTemplateName}` }
    const body = { metadata, ...group({ podGroupTemplateRef }) }
    const { status, value } = await request('POST', `${PATH}/podgroups`, body)
    return [status, value.message]
  }
  assert.deepEqual(await create('w', 't'), [201, undefined])
  assert.deepEqual(await create('v', 't'), [
    403,
    'podgroups.scheduling.k8s.io "v-t" is forbidden: PodGroup rejected: Workload "v" not found',
  ])
  assert.deepEqual(await create('w', 'u'), [
    403,
    'podgroups.scheduling.k8s.io "w-u" is forbidden: PodGroup rejected: PodGroupTemplate "u" not found in Workload "w"',
  ])
})

test('the priority of a group is that of its class, or of the default one', async () => {
  const { request } = await createTestServer(ALL)
  const create = async (name: string, more: object) => {
    const { value } = await request('POST', `${PATH}/podgroups`, {
      metadata: { name },
      ...group(more),
    })
    return value.message ?? [value.spec.priorityClassName, value.spec.priority]
  }
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses'
  assert.deepEqual(await create('a', {}), [undefined, 0])
  await request('POST', classes, { metadata: { name: 'usual' }, value: 7, globalDefault: true })
  assert.deepEqual(await create('b', {}), ['usual', 7])
  assert.equal(
    await create('c', { priority: 8 }),
    'podgroups.scheduling.k8s.io "c" is forbidden: priority set in the pod group (8) must match the priority computed (7) based on the priority class set in the spec',
  )
  assert.equal(
    await create('d', { priorityClassName: 'x' }),
    'podgroups.scheduling.k8s.io "d" is forbidden: no PriorityClass with name x was found',
  )
})

test('a write of the status leaves metadata alone, and no table shows it', async () => {
  const { request } = await createTestServer(ON)
  await request('POST', `${PATH}/podgroups`, { metadata: { name: 'a' }, ...group() })
  const condition = {
    type: 'PodGroupScheduled',
    status: 'False',
    reason: 'R',
    message: '',
    lastTransitionTime: '2024-01-01T00:00:00Z',
  }
  const asTable = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
  const cells = async () =>
    (await request('GET', `${PATH}/podgroups`, undefined, asTable)).value.rows[0].cells
  assert.deepEqual(await cells(), ['a', 'Basic', '<none>', 'Pending', '0s'])
  const body = { metadata: { labels: { a: '-' } }, status: { conditions: [condition] } }
  const { status, value } = await request('PATCH', `${PATH}/podgroups/a/status`, body, MERGE)
  assert.deepEqual([status, value.metadata.labels], [200, undefined])
  assert.equal((await cells())[3], 'Unschedulable')
  const told = { ...condition, type: 'DisruptionTarget', reason: 'Preempted' }
  const disrupted = { status: { conditions: [{ ...condition, status: 'True' }, told] } }
  await request('PATCH', `${PATH}/podgroups/a/status`, disrupted, MERGE)
  assert.equal((await cells())[3], 'Preempted')
  const table = await request('GET', `${PATH}/podgroups/a/status`, undefined, asTable)
  assert.equal(table.status, 406)
})

test('a pod names its group', async () => {
  const { request } = await createTestServer(ON)
  const accounts = '/api/v1/namespaces/default/serviceaccounts'
  await request('POST', accounts, { metadata: { name: 'default' } })
  const problem = async (schedulingGroup: object): Promise<string> => {
    const spec = { schedulingGroup, containers: [{ name: 'c', image: 'x' }] }
    const pod = { metadata: { name: 'p' }, spec }
    const pods = '/api/v1/namespaces/default/pods?dryRun=All'
    return (await request('POST', pods, pod)).value.message ?? ''
  }
  assert.match(await problem({}), /podGroupName: Invalid value: null: must specify one of: `podG/)
  assert.match(await problem({ podGroupName: '' }), /podGroupName: Invalid value: "": a lower/)
  assert.match(await problem({ podGroupName: 'A_' }), SUBDOMAIN)
})

const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles'

test('the gates let users edit groups, and those who work with them do so', async () => {
  const featureGates = {
    GenericWorkload: true,
    WorkloadWithJob: true,
    DRAWorkloadResourceClaims: true,
  }
  const { request } = await createTestServer({ ...ON, featureGates })
  const verbsOf = async (role: string) => {
    const { rules } = (await request('GET', `${ROLES}/${role}`)).value
    return (rules as { apiGroups: string[]; resources: string[]; verbs: string[] }[])
      .filter(({ apiGroups }) => apiGroups?.includes('scheduling.k8s.io'))
      .map(({ resources, verbs }) => `${resources.join()}: ${verbs.join()}`)
  }
  const handled = ['podgroups: get,list,watch', 'podgroups/status: patch,update']
  for (const [role, wanted] of [
    ['aggregate-to-edit', ['podgroups,workloads: create,delete,deletecollection,patch,update']],
    ['aggregate-to-view', ['podgroups,podgroups/status,workloads: get,list,watch']],
    ['controller:podgroup-protection-controller', ['podgroups: get,list,update,watch']],
    ['controller:job-controller', ['podgroups,workloads: create,get,list,watch']],
    ['controller:resource-claim-controller', handled],
    ['kube-scheduler', handled],
  ] as const)
    assert.deepEqual(await verbsOf(`system:${role}`), wanted, role)
})
