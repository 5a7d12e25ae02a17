import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from '../../registry/kind-rules.ts'
import { createErrors, created, decoded, podSpec, template, updateErrors } from '../fixtures.ts'

const type = (kind: string) => ({ group: 'apps', version: 'v1', kind })
const DEPLOYMENT = type('Deployment')
const STATEFUL_SET = type('StatefulSet')
const DAEMON_SET = type('DaemonSet')
const workload = (rest: Draft = {}): Draft => ({
  spec: { selector: { matchLabels: { app: 'a' } }, template: template(), ...rest },
})
const CLAIM = {
  metadata: { name: 'd' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
}

test('defaults', () => {
  const {
    template: _template,
    selector: _selector,
    ...deployment
  } = decoded(DEPLOYMENT, workload()).spec
  assert.deepEqual(deployment, {
    replicas: 1,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
  })
  const stateful = decoded(STATEFUL_SET, workload({ volumeClaimTemplates: [CLAIM] })).spec
  assert.equal(stateful.podManagementPolicy, 'OrderedReady')
  assert.deepEqual(stateful.updateStrategy, {
    type: 'RollingUpdate',
    rollingUpdate: { partition: 0 },
  })
  assert.deepEqual(stateful.persistentVolumeClaimRetentionPolicy, {
    whenDeleted: 'Retain',
    whenScaled: 'Retain',
  })
  assert.deepEqual(stateful.volumeClaimTemplates[0], {
    ...CLAIM,
    kind: 'PersistentVolumeClaim',
    apiVersion: 'v1',
    spec: { ...CLAIM.spec, volumeMode: 'Filesystem' },
    status: { phase: 'Pending' },
  })
  const daemon = created(DAEMON_SET, workload())
  assert.deepEqual(daemon.spec.updateStrategy, {
    type: 'RollingUpdate',
    rollingUpdate: { maxUnavailable: 1, maxSurge: 0 },
  })
  assert.equal(daemon.metadata.annotations['deprecated.daemonset.template.generation'], '1')
})

const numbers: readonly (readonly [string, string])[] = [
  ['41', '41'],
  ['007', '7'],
  ['0', '1'],
  ['-3', '1'],
]
for (const [given, kept] of numbers) {
  test(`a DaemonSet that brings the number ${given} of its template has ${kept}`, () => {
    const annotations = { 'deprecated.daemonset.template.generation': given }
    const { metadata } = created(DAEMON_SET, {
      ...workload(),
      metadata: { name: 'x', annotations },
    })
    assert.equal(metadata.annotations['deprecated.daemonset.template.generation'], kept)
  })
}

test('defaults of templates leave requests, hostPort and enableServiceLinks to the pod', () => {
  const spec = podSpec(
    { ports: [{ containerPort: 80 }], resources: { limits: { cpu: '1' } } },
    { hostNetwork: true },
  )
  const pod = decoded(DEPLOYMENT, workload({ template: template({ app: 'a' }, spec) })).spec
    .template.spec
  assert.equal(pod.enableServiceLinks, undefined)
  assert.equal(pod.containers[0].ports[0].hostPort, undefined)
  assert.deepEqual(pod.containers[0].resources, { limits: { cpu: '1' } })
})

test('rules of all workloads', () => {
  const cases: readonly (readonly [Draft, readonly string[]])[] = [
    [
      { selector: undefined },
      [
        'spec.selector: Required value',
        'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`',
      ],
    ],
    [
      { template: template({ a: 'c' }) },
      [
        'spec.template.metadata.labels: Invalid value: {"a":"c"}: `selector` does not match template `labels`',
      ],
    ],
    [
      {
        template: template(
          { app: 'a' },
          podSpec({}, { restartPolicy: 'Never', activeDeadlineSeconds: 5 }),
        ),
      },
      [
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
        'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported',
      ],
    ],
    [
      { selector: {} },
      ['spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
    ],
    [{ replicas: -1 }, ['spec.replicas: Invalid value: -1: must be greater than or equal to 0']],
    [
      {
        template: template(
          { app: 'a' },
          podSpec({}, { ephemeralContainers: [{ name: 'e', image: 'x' }] }),
        ),
      },
      [
        'spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template',
      ],
    ],
  ]
  for (const kind of ['Deployment', 'ReplicaSet']) {
    for (const [rest, errors] of cases)
      assert.deepEqual(
        createErrors(type(kind), workload(rest)),
        errors,
        `${kind} ${JSON.stringify(rest)}`,
      )
  }
})

test('deployment strategies', () => {
  const errors = (strategy: Draft, rest: Draft = {}): string[] =>
    createErrors(DEPLOYMENT, workload({ strategy, ...rest }))
  const at = 'spec.strategy.rollingUpdate'
  assert.deepEqual(errors({ type: 'Recreate', rollingUpdate: {} }), [
    `${at}: Forbidden: may not be specified when strategy \`type\` is 'Recreate'`,
  ])
  assert.deepEqual(errors({ type: 'Foo' }), [
    'spec.strategy: Unsupported value: {"Type":"Foo","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
  ])
  assert.deepEqual(errors({ rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } }), [
    `${at}.maxUnavailable: Invalid value: 0: may not be 0 when \`maxSurge\` is 0`,
  ])
  assert.deepEqual(errors({ rollingUpdate: { maxUnavailable: '101%' } }), [
    `${at}.maxUnavailable: Invalid value: "101%": must not be greater than 100%`,
  ])
  assert.match(
    errors({ rollingUpdate: { maxSurge: 'abc' } })[0]!,
    /a valid percent string must be a numeric string followed by an ending '%'/,
  )
  assert.deepEqual(errors({}, { progressDeadlineSeconds: 5, minReadySeconds: 5 }), [
    'spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds',
  ])
})

test('Given strategy Recreate patched onto a RollingUpdate deployment, then 422 on spec.strategy.rollingUpdate.', () => {
  const before = decoded(DEPLOYMENT, workload())
  const after = {
    spec: { ...before.spec, strategy: { ...before.spec.strategy, type: 'Recreate' } },
  }
  assert.match(
    updateErrors(DEPLOYMENT, workload(), after)[0]!,
    /^spec\.strategy\.rollingUpdate: Forbidden/,
  )
})

test('selectors are chosen once', () => {
  const other = workload({
    selector: { matchLabels: { app: 'b' } },
    template: template({ app: 'b' }),
  })
  for (const kind of ['Deployment', 'ReplicaSet', 'DaemonSet']) {
    assert.deepEqual(
      updateErrors(type(kind), workload(), other),
      ['spec.selector: Invalid value: {"matchLabels":{"app":"b"}}: field is immutable'],
      kind,
    )
  }
})

test('Given a StatefulSet update of serviceName, then 422 with the fixed sentence; of replicas and template: 200.', () => {
  assert.match(
    updateErrors(STATEFUL_SET, workload(), workload({ serviceName: 'other' }))[0]!,
    /^spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals'/,
  )
  const allowed = workload({
    replicas: 5,
    template: template({ app: 'a' }, podSpec({ image: 'other:1' })),
  })
  assert.deepEqual(updateErrors(STATEFUL_SET, workload(), allowed), [])
})

test('containers mount the volumes of claim templates by name', () => {
  const mounting = template(
    { app: 'a' },
    podSpec({ volumeMounts: [{ name: 'd', mountPath: '/d' }] }),
  )
  assert.deepEqual(
    createErrors(STATEFUL_SET, workload({ volumeClaimTemplates: [CLAIM], template: mounting })),
    [],
  )
  assert.deepEqual(createErrors(STATEFUL_SET, workload({ template: mounting })), [
    'spec.template.spec.containers[0].volumeMounts[0].name: Not found: "d"',
  ])
})

test('update strategies of StatefulSets and DaemonSets', () => {
  assert.deepEqual(createErrors(STATEFUL_SET, workload({ podManagementPolicy: 'Foo' })), [
    "spec.podManagementPolicy: Invalid value: \"Foo\": must be 'OrderedReady' or 'Parallel'",
  ])
  assert.match(
    createErrors(
      STATEFUL_SET,
      workload({ updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } }),
    )[0]!,
    /only allowed for updateStrategy 'RollingUpdate'$/,
  )
  const daemon = (rollingUpdate: Draft): string[] =>
    createErrors(DAEMON_SET, workload({ updateStrategy: { rollingUpdate } }))
  const at = 'spec.updateStrategy.rollingUpdate'
  assert.deepEqual(daemon({ maxUnavailable: 0 }), [
    `${at}.maxUnavailable: Required value: cannot be 0 when maxSurge is 0`,
  ])
  assert.deepEqual(daemon({ maxSurge: 1 }), [
    `${at}.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero`,
  ])
})

test('revisions', () => {
  const revision = type('ControllerRevision')
  assert.deepEqual(createErrors(revision, { revision: 1 }), [
    'data: Required value: data is mandatory',
  ])
  assert.deepEqual(
    updateErrors(revision, { data: { a: 1 }, revision: 1 }, { data: { a: 2 }, revision: 2 }),
    ['data: Invalid value: {"a":2}: field is immutable'],
  )
  assert.deepEqual(
    updateErrors(revision, { data: { a: 1 }, revision: 1 }, { data: { a: 1 }, revision: 2 }),
    [],
  )
})

test('the order in which a stateful set is checked', () => {
  const cases: readonly (readonly [Draft, readonly string[]])[] = [
    [
      { serviceName: 'Not Valid!' },
      [
        "spec.serviceName: Invalid value: \"Not Valid!\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
      ],
    ],
    [
      {
        replicas: -1,
        selector: {},
        serviceName: '-',
        template: {
          metadata: { labels: { app: 'a' } },
          spec: { containers: [{ name: 'c', image: 'nginx:1.27' }], restartPolicy: 'Never' },
        },
      },
      [
        'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
        "spec.serviceName: Invalid value: \"-\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        'spec.selector: Invalid value: {}: empty selector is invalid for statefulset',
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
      ],
    ],
    [
      { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'x', whenScaled: 'y' } },
      [
        'spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "x": supported values: "Retain", "Delete"',
        'spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "y": supported values: "Retain", "Delete"',
      ],
    ],
    [
      { updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } },
      [
        'spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":1,"MaxUnavailable":null}: only allowed for updateStrategy \'RollingUpdate\'',
      ],
    ],
    [
      { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: -1 } } },
      [
        'spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0',
      ],
    ],
    [
      { ordinals: { start: -1 } },
      ['spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      { podManagementPolicy: 'x' },
      ["spec.podManagementPolicy: Invalid value: \"x\": must be 'OrderedReady' or 'Parallel'"],
    ],
    [
      {
        template: {
          metadata: { labels: { app: 'b' } },
          spec: { containers: [{ name: 'c', image: 'nginx:1.27' }] },
        },
        volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: { resources: {} } }],
      },
      [
        'spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required',
        'spec.volumeClaimTemplates[0].spec.resources[storage]: Required value',
        'spec.template.metadata.labels: Invalid value: {"app":"b"}: `selector` does not match template `labels`',
      ],
    ],
  ]
  for (const [rest, expected] of cases)
    assert.deepEqual(createErrors(STATEFUL_SET, workload(rest)), expected, JSON.stringify(rest))
})

test('rolling updates of daemon sets', () => {
  const cases: readonly (readonly [Draft, readonly string[]])[] = [
    [
      {
        updateStrategy: {
          type: 'RollingUpdate',
          rollingUpdate: { maxUnavailable: '110%', maxSurge: 0 },
        },
      },
      [
        'spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "110%": must not be greater than 100%',
      ],
    ],
    [
      {
        updateStrategy: {
          type: 'RollingUpdate',
          rollingUpdate: { maxUnavailable: 0, maxSurge: 0 },
        },
      },
      [
        'spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0',
      ],
    ],
    [
      { updateStrategy: { type: 'x' } },
      [
        'spec.updateStrategy: Unsupported value: {"Type":"x","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"',
      ],
    ],
  ]
  for (const [rest, expected] of cases)
    assert.deepEqual(createErrors(DAEMON_SET, workload(rest)), expected, JSON.stringify(rest))
})

test('rules of controller revisions', () => {
  const cases: readonly (readonly [Draft, readonly string[]])[] = [
    [
      { revision: -1 },
      [
        'revision: Invalid value: -1: must be greater than or equal to 0',
        'data: Required value: data is mandatory',
      ],
    ],
    [{ revision: 1 }, ['data: Required value: data is mandatory']],
    [{ revision: 1, data: [1] }, ['data: Required value: data must be a valid JSON object']],
    [{ revision: 1, data: { a: 1 } }, []],
  ]
  for (const [object, expected] of cases)
    assert.deepEqual(
      createErrors(type('ControllerRevision'), object),
      expected,
      JSON.stringify(object),
    )
})

test('the bounds of a rolling update are written also where nothing rolls', () => {
  const strategyOf = (updateStrategy: object): unknown =>
    created(DAEMON_SET, workload({ updateStrategy })).spec.updateStrategy
  assert.deepEqual(strategyOf({ type: 'OnDelete', rollingUpdate: { maxUnavailable: 1 } }), {
    type: 'OnDelete',
    rollingUpdate: { maxUnavailable: 1, maxSurge: 0 },
  })
  assert.deepEqual(strategyOf({ type: 'OnDelete' }), { type: 'OnDelete' })
})
