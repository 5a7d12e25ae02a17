import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createErrors, created, decoded, podSpec, updateErrors } from '../../fixtures.ts'
import type { Draft } from '../../../registry/kind-rules.ts'
import { pullPolicyOf } from './defaults.ts'
import { qosClassOf } from './qos.ts'
import { podColumns } from './columns.ts'

const POD = { group: '', version: 'v1', kind: 'Pod' }
const DEPLOYMENT = { group: 'apps', version: 'v1', kind: 'Deployment' }
const pod = (spec: Draft): Draft => ({ spec })

test('Given a pod with limits only, when created, then requests equal limits; a Deployment template keeps only limits.', () => {
  const spec = podSpec({ resources: { limits: { cpu: '1', memory: '1Gi' } } })
  assert.deepEqual(created(POD, pod(spec)).spec.containers[0].resources.requests, {
    cpu: '1',
    memory: '1Gi',
  })
  const deployment = decoded(DEPLOYMENT, { spec: { template: { spec } } })
  assert.deepEqual(deployment.spec.template.spec.containers[0].resources, {
    limits: { cpu: '1', memory: '1Gi' },
  })
})

test('what a pod requests as a whole is filled in from its containers only where it has limits as a whole', () => {
  const container = { resources: { requests: { cpu: '100m', memory: '100Mi' } } }
  const whole = (resources: Draft): Draft =>
    created(POD, pod(podSpec(container, { resources }))).spec.resources
  assert.deepEqual(whole({ requests: { memory: '500Mi' } }), { requests: { memory: '500Mi' } })
  assert.deepEqual(whole({ requests: { memory: '500Mi' }, limits: { memory: '1Gi' } }), {
    requests: { memory: '500Mi', cpu: '100m' },
    limits: { memory: '1Gi' },
  })
})

test('Given image `x`, `x:1`, `x@sha256:...`, then Always, IfNotPresent, IfNotPresent.', () => {
  const digest = `x@sha256:${'0'.repeat(64)}`
  const cases: readonly (readonly [string, string])[] = [
    ['x', 'Always'],
    ['x:latest', 'Always'],
    ['x:1', 'IfNotPresent'],
    [digest, 'IfNotPresent'],
    ['registry:5000/x', 'Always'],
    ['registry:5000/x:1', 'IfNotPresent'],
    ['Not Valid!', 'IfNotPresent'],
    ['0123456789abcdef'.repeat(4), 'IfNotPresent'],
    ['0123456789abcdef'.repeat(3), 'Always'],
    ['', 'IfNotPresent'],
    ...['', 'docker.io/', 'index.docker.io/'].flatMap((registry) => [
      [`${registry}${'x'.repeat(247)}`, 'Always'] as const,
      [`${registry}${'x'.repeat(248)}`, 'IfNotPresent'] as const,
      [`${registry}a/${'x'.repeat(253)}`, 'Always'] as const,
    ]),
    ...['r.io/', 'r:5000/', 'R/', 'localhost/'].flatMap((registry) => [
      [`${registry}${'x'.repeat(255)}`, 'Always'] as const,
      [`${registry}${'x'.repeat(256)}`, 'IfNotPresent'] as const,
    ]),
  ]
  for (const [image, policy] of cases) assert.equal(pullPolicyOf(image), policy, image)
})

test('Given a negative terminationGracePeriodSeconds, when a pod is written, then it is 1; in a template it stays.', () => {
  const spec = podSpec({}, { terminationGracePeriodSeconds: -5 })
  assert.equal(created(POD, pod(spec)).spec.terminationGracePeriodSeconds, 1)
  const one = pod(podSpec({}, { terminationGracePeriodSeconds: 1 }))
  assert.deepEqual(updateErrors(POD, one, pod(spec)), [])
  const deployment = created(DEPLOYMENT, { spec: { template: { spec } } })
  assert.equal(deployment.spec.template.spec.terminationGracePeriodSeconds, -5)
})

test('defaults of a pod', () => {
  const { spec, status } = created(
    POD,
    pod(
      podSpec(
        {
          ports: [{ containerPort: 80 }],
          livenessProbe: { httpGet: { port: 80 }, timeoutSeconds: 0 },
        },
        { hostNetwork: true, volumes: [{ name: 'v' }] },
      ),
    ),
  )
  const { containers, volumes, ...rest } = spec
  assert.deepEqual(rest, {
    hostNetwork: true,
    dnsPolicy: 'ClusterFirst',
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    terminationGracePeriodSeconds: 30,
    securityContext: {},
    enableServiceLinks: true,
  })
  assert.deepEqual(volumes, [{ name: 'v', emptyDir: {} }])
  assert.deepEqual(containers[0].ports, [{ containerPort: 80, hostPort: 80, protocol: 'TCP' }])
  assert.deepEqual(containers[0].livenessProbe, {
    httpGet: { path: '/', port: 80, scheme: 'HTTP' },
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  })
  assert.deepEqual(status, { phase: 'Pending', qosClass: 'BestEffort' })
})

test('a gated pod is born with the condition that says so', () => {
  const { status } = created(POD, pod(podSpec({}, { schedulingGates: [{ name: 'a.b/c' }] })))
  assert.equal(status.conditions[0].reason, 'SchedulingGated')
  assert.match(status.conditions[0].lastTransitionTime, /^\d{4}-.*Z$/)
})

test('create rules', () => {
  const cases: readonly (readonly [Draft, readonly string[]])[] = [
    [{ containers: [] }, ['spec.containers: Required value']],
    [
      { containers: [{}] },
      ['spec.containers[0].name: Required value', 'spec.containers[0].image: Required value'],
    ],
    [
      podSpec({ image: ' x' }),
      [
        'spec.containers[0].image: Invalid value: " x": must not have leading or trailing whitespace',
      ],
    ],
    [
      {
        containers: [
          { name: 'a', image: 'x' },
          { name: 'a', image: 'x' },
        ],
        initContainers: [{ name: 'a', image: 'x' }],
      },
      [
        'spec.containers[1].name: Duplicate value: "a"',
        'spec.initContainers[0].name: Duplicate value: "a"',
      ],
    ],
    [
      podSpec({}, { restartPolicy: 'Sometimes' }),
      [
        'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
      ],
    ],
    [
      podSpec({ resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }),
      [
        'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
      ],
    ],
    [
      podSpec({ resources: { limits: { 'example.com/gpu': '1.5' } } }),
      [
        'spec.containers[0].resources.limits[example.com/gpu]: Invalid value: "1500m": must be an integer',
        'spec.containers[0].resources.requests[example.com/gpu]: Invalid value: "1500m": must be an integer',
      ],
    ],
    [
      podSpec({
        env: [{ name: 'A', value: '1', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
      }),
      [
        'spec.containers[0].env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
      ],
    ],
    [
      podSpec({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.foo' } } }] }),
      [
        'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.foo": error converting fieldPath: field label not supported: spec.foo',
      ],
    ],
    [
      podSpec({ ports: [{ containerPort: 0 }] }),
      ['spec.containers[0].ports[0].containerPort: Required value'],
    ],
    [
      podSpec({ ports: [{ containerPort: 80, hostPort: 99999 }] }),
      [
        'spec.containers[0].ports[0].hostPort: Invalid value: 99999: must be between 1 and 65535, inclusive',
      ],
    ],
    [
      podSpec({
        ports: [
          { containerPort: 80, hostPort: 81 },
          { containerPort: 82, hostPort: 81 },
        ],
      }),
      ['spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//81"'],
    ],
    [
      podSpec(
        {
          volumeMounts: [
            { name: 'v', mountPath: '/a' },
            { name: 'v2', mountPath: '/a' },
          ],
        },
        { volumes: [{ name: 'v' }] },
      ),
      [
        'spec.containers[0].volumeMounts[1].name: Not found: "v2"',
        'spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/a": must be unique',
      ],
    ],
    [
      podSpec({}, { volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/' } }] }),
      ['spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type'],
    ],
    [
      podSpec({ livenessProbe: {} }),
      ['spec.containers[0].livenessProbe: Required value: must specify a handler type'],
    ],
    [
      podSpec({ startupProbe: { exec: { command: ['x'] }, successThreshold: 2 } }),
      ['spec.containers[0].startupProbe.successThreshold: Invalid value: 2: must be 1'],
    ],
    [
      podSpec(
        {},
        {
          initContainers: [
            { name: 'i', image: 'x', lifecycle: { preStop: { exec: { command: ['x'] } } } },
          ],
        },
      ),
      [
        'spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always',
      ],
    ],
    [
      podSpec({}, { ephemeralContainers: [{ name: 'e', image: 'x' }] }),
      ['spec.ephemeralContainers: Forbidden: cannot be set on create'],
    ],
    [
      podSpec({}, { activeDeadlineSeconds: 0 }),
      ['spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive'],
    ],
    [
      podSpec({}, { schedulingGates: [{ name: 'a' }], nodeName: 'n' }),
      ['spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared'],
    ],
    [
      podSpec(
        {},
        {
          tolerations: [
            { operator: 'Equal' },
            { key: 'k', operator: 'Exists', tolerationSeconds: 1 },
          ],
        },
      ),
      [
        'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
        'spec.tolerations[1].effect: Invalid value: "": effect must be \'NoExecute\' when `tolerationSeconds` is set',
      ],
    ],
    [
      podSpec(
        {},
        {
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] },
            },
          },
        },
      ),
      [
        'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term',
      ],
    ],
    [
      podSpec(
        {},
        {
          topologySpreadConstraints: [
            { maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule' },
            { maxSkew: 0, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule' },
          ],
        },
      ),
      [
        'spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{a, DoNotSchedule}"',
        'spec.topologySpreadConstraints[1].maxSkew: Invalid value: 0: must be greater than zero',
      ],
    ],
    [
      podSpec(
        {},
        {
          resourceClaims: [{ name: 'a', resourceClaimName: 'a' }],
          resources: { claims: [{ name: 'a' }, { name: 'b' }] },
        },
      ),
      [
        'spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level',
        'spec.resources.claims[1]: Not found: "b": must be one of the names in pod.spec.resourceClaims: a',
      ],
    ],
    [
      podSpec(
        {},
        {
          securityContext: {
            sysctls: ['', 'a'.repeat(253), 'a'.repeat(254), 'A', 'net.x', 'net.x'].map((name) => ({
              name,
              value: '1',
            })),
          },
        },
      ),
      [
        'spec.securityContext.sysctls[0].name: Required value',
        ...['a'.repeat(254), 'A'].map(
          (name, index) =>
            `spec.securityContext.sysctls[${index + 2}].name: Invalid value: "${name}": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`,
        ),
        'spec.securityContext.sysctls[5].name: Duplicate value: "net.x"',
      ],
    ],
    [
      podSpec({}, { dnsPolicy: 'None' }),
      ['spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None'],
    ],
    ...(
      [
        ['hostNetwork', 'net.ipv4.x', 'refused'],
        ['hostNetwork', 'net/ipv4.x', 'refused'],
        ['hostNetwork', 'net', 'allowed'],
        ['hostNetwork', 'kernel.sem', 'allowed'],
        ['hostIPC', 'kernel/shm_rmid_forced', 'refused'],
        ['hostIPC', 'kernel.msg', 'refused'],
        ['hostIPC', 'kernel.msgpool', 'allowed'],
        ['hostIPC', 'fs.mqueue.x', 'refused'],
        ['hostIPC', 'fs.mqueue/x', 'allowed'],
        ['hostPID', 'net.x', 'allowed'],
      ] as const
    ).map(([shared, name, verdict]): (typeof cases)[number] => [
      podSpec({}, { [shared]: true, securityContext: { sysctls: [{ name, value: '1' }] } }),
      verdict === 'allowed'
        ? []
        : [
            `spec.securityContext.sysctls[0].name: Invalid value: "${name}": may not be specified when '${shared}' is true`,
          ],
    ]),
    [
      podSpec({ securityContext: { runAsUser: -1 } }),
      [
        'spec.containers[0].securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive',
      ],
    ],
  ]
  for (const [spec, errors] of cases)
    assert.deepEqual(createErrors(POD, pod(spec)), errors, JSON.stringify(spec))
})

test('Given an updated pod command, then 422 with the list of mutable fields and a diff.', () => {
  const [error, ...more] = updateErrors(POD, pod(podSpec()), pod(podSpec({ command: ['sh'] })))
  assert.deepEqual(more, [])
  assert.match(
    error!,
    /^spec: Forbidden: pod updates may not change fields other than `spec\.containers\[\*\]\.image`/,
  )
  assert.match(error!, /\n@@ -\d+,7 \+\d+,9 @@\n/)
  assert.match(error!, /\n-   "Command": null,\n\+   "Command": \[\n\+    "sh"\n\+   \],\n/)
})

test('what may change in a pod', () => {
  const before = podSpec(
    {},
    { tolerations: [{ key: 'a', operator: 'Exists' }], activeDeadlineSeconds: 20 },
  )
  const more = [
    { key: 'a', operator: 'Exists' },
    { key: 'b', operator: 'Exists' },
  ]
  assert.deepEqual(
    updateErrors(
      POD,
      pod(before),
      pod({
        ...before,
        ...podSpec({ image: 'other:2' }),
        tolerations: more,
        activeDeadlineSeconds: 10,
      }),
    ),
    [],
  )
  assert.deepEqual(updateErrors(POD, pod(before), pod({ ...before, activeDeadlineSeconds: 30 })), [
    'spec.activeDeadlineSeconds: Invalid value: 30: must be less than or equal to previous value',
  ])
  assert.deepEqual(
    updateErrors(POD, pod(before), pod({ ...before, activeDeadlineSeconds: null })),
    [
      'spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value',
    ],
  )
  assert.deepEqual(updateErrors(POD, pod(before), pod({ ...before, tolerations: more.slice(1) })), [
    'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds',
  ])
  assert.match(
    updateErrors(POD, pod(before), pod({ ...before, hostname: 'h' }))[0]!,
    /^spec: Forbidden: pod updates/,
  )
  assert.deepEqual(
    updateErrors(POD, pod(before), pod({ ...before, containers: [] })).at(-1),
    'spec.containers: Forbidden: pod updates may not add or remove containers',
  )
})

test('a gated pod: gates are only removed, node selectors only added', () => {
  const gated = podSpec({}, { schedulingGates: [{ name: 'g' }], nodeSelector: { a: '1' } })
  assert.deepEqual(updateErrors(POD, pod(gated), pod({ ...gated, schedulingGates: [] })), [])
  assert.deepEqual(
    updateErrors(POD, pod(gated), pod({ ...gated, nodeSelector: { a: '1', b: '2' } })),
    [],
  )
  assert.deepEqual(updateErrors(POD, pod(gated), pod({ ...gated, nodeSelector: { b: '2' } })), [
    'spec.nodeSelector: Invalid value: {"b":"2"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
  ])
  assert.deepEqual(
    updateErrors(
      POD,
      pod(gated),
      pod({ ...gated, schedulingGates: [{ name: 'g' }, { name: 'h' }] }),
    ),
    [
      "spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'h'",
    ],
  )
})

test('quality of service', () => {
  const of = (...resources: Draft[]): string =>
    qosClassOf({ containers: resources.map((entry) => ({ resources: entry })) })
  const full = { cpu: '1', memory: '1Gi' }
  assert.equal(of({}), 'BestEffort')
  assert.equal(of({ limits: full, requests: full }), 'Guaranteed')
  assert.equal(of({ limits: full, requests: { ...full, cpu: '500m' } }), 'Burstable')
  assert.equal(of({ limits: full, requests: full }, {}), 'Burstable')
  assert.equal(of({ requests: { 'example.com/gpu': '1' } }), 'BestEffort')
})

test('the row of a pod', () => {
  const nowMs = Date.parse('2024-01-01T00:10:00Z')
  const cells = (object: Draft): unknown[] =>
    podColumns.slice(1, 4).map(({ cell }) => cell(object, nowMs))
  const spec = { containers: [{ name: 'a' }, { name: 'b' }] }
  const terminated = { reason: 'Error', exitCode: 1, finishedAt: '2024-01-01T00:09:00Z' }
  const running = {
    name: 'a',
    ready: true,
    restartCount: 2,
    state: { running: {} },
    lastState: { terminated },
  }
  assert.deepEqual(cells({ spec, status: { phase: 'Pending' } }), ['0/2', 'Pending', '0'])
  assert.deepEqual(cells({ spec, status: { phase: 'Running', containerStatuses: [running] } }), [
    '1/2',
    'Running',
    '2 (60s ago)',
  ])
  const crash = { ...running, ready: false, state: { waiting: { reason: 'CrashLoopBackOff' } } }
  assert.deepEqual(cells({ spec, status: { phase: 'Running', containerStatuses: [crash] } }), [
    '0/2',
    'CrashLoopBackOff',
    '2 (60s ago)',
  ])
  assert.deepEqual(
    cells({ metadata: { deletionTimestamp: 'x' }, spec, status: { phase: 'Running' } })[1],
    'Terminating',
  )
  const init = { ...spec, initContainers: [{ name: 'i' }, { name: 'j' }] }
  assert.deepEqual(
    cells({
      spec: init,
      status: { phase: 'Pending', initContainerStatuses: [{ name: 'i', state: { running: {} } }] },
    })[1],
    'Init:0/2',
  )
  // Initialized before: an init container that is gone from its node does not count with its restarts.
  assert.deepEqual(
    cells({
      spec: init,
      status: {
        phase: 'Running',
        conditions: [{ type: 'Initialized', status: 'True' }],
        initContainerStatuses: [
          { name: 'i', state: {}, restartCount: 3, lastState: { terminated } },
        ],
        containerStatuses: [{ ...running, lastState: {} }],
      },
    }).slice(1),
    ['Init:0/2', '2'],
  )
})
