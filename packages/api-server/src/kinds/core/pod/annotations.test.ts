import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from '../../../registry/kind-rules.ts'
import { createErrors, created, podSpec, updateErrors } from '../../fixtures.ts'

const POD = { group: '', version: 'v1', kind: 'Pod' }
const pod = ({ metadata, spec }: Draft): Draft => ({ metadata, spec: { ...podSpec(), ...spec } })

test('rules of annotations, operating systems and scheduling', () => {
  const cases: readonly (readonly [Draft, readonly string[]])[] = [
    [
      {
        metadata: {
          annotations: {
            'kubernetes.io/config.mirror': 'x',
            'controller.kubernetes.io/pod-deletion-cost': '+1',
          },
        },
      },
      [
        'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
        'metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+1": must be a 32bit integer',
      ],
    ],
    [
      {
        metadata: {
          annotations: {
            'container.apparmor.security.beta.kubernetes.io/q': 'bad',
            'seccomp.security.alpha.kubernetes.io/pod': 'x',
          },
        },
      },
      [
        'metadata.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: "x": must be a valid seccomp profile',
        'metadata.annotations[container.apparmor.security.beta.kubernetes.io/q]: Invalid value: "q": container not found',
        'metadata.annotations[container.apparmor.security.beta.kubernetes.io/q]: Invalid value: "bad": invalid AppArmor profile name: "bad"',
      ],
    ],
    [
      {
        metadata: {
          annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'runtime/default' },
        },
        spec: { securityContext: { seccompProfile: { type: 'Unconfined' } } },
      },
      [
        'spec.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and field must match',
      ],
    ],
    [
      { spec: { os: { name: 'windows' }, hostPID: true, securityContext: { runAsUser: 1 } } },
      [
        'spec.hostPID: Forbidden: cannot be set for a windows pod',
        'spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod',
      ],
    ],
    [
      { spec: { os: { name: 'beos' } } },
      ['spec.os: Unsupported value: "beos": supported values: "linux", "windows"'],
    ],
    [
      { spec: { hostUsers: false, hostNetwork: true, hostIPC: true } },
      [
        'spec.hostNetwork: Forbidden: when `hostUsers` is false',
        'spec.HostIPC: Forbidden: when `hostUsers` is false',
      ],
    ],
    [
      {
        spec: {
          affinity: {
            nodeAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                { weight: 0, preference: { matchExpressions: [{ key: 'a', operator: 'Foo' }] } },
              ],
            },
          },
        },
      },
      [
        'spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100',
        'spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].operator: Invalid value: "Foo": not a valid selector operator',
      ],
    ],
    [
      {
        spec: {
          topologySpreadConstraints: [{ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'x' }],
        },
      },
      [
        'spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero',
        'spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty',
        'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "x": supported values: "DoNotSchedule", "ScheduleAnyway"',
      ],
    ],
    [
      { spec: { schedulingGates: [{ name: 'a' }, { name: 'a' }] } },
      ['spec.schedulingGates[1]: Duplicate value: "a"'],
    ],
    [
      { spec: { volumes: [{ name: 'v' }, { name: 'v' }] } },
      ['spec.volumes[1].name: Duplicate value: "v"'],
    ],
  ]
  for (const [object, expected] of cases)
    assert.deepEqual(createErrors(POD, pod(object)), expected, JSON.stringify(object))
})

test('updates of gates, affinity and annotations', () => {
  const cases: readonly (readonly [Draft, Draft, readonly string[]])[] = [
    [
      {},
      { spec: { containers: [{ name: 'c', image: ' y ' }] } },
      [
        'spec.containers[0].image: Invalid value: " y ": must not have leading or trailing whitespace',
        'spec.containers[0].image: Invalid value: " y ": must not have leading or trailing whitespace',
      ],
    ],
    [
      { spec: { activeDeadlineSeconds: 5 } },
      { spec: { activeDeadlineSeconds: -1 } },
      [
        'spec.activeDeadlineSeconds: Invalid value: -1: must be between 1 and 2147483647, inclusive',
        'spec.activeDeadlineSeconds: Invalid value: -1: must be between 0 and 2147483647, inclusive',
      ],
    ],
    [
      {},
      { spec: { schedulingGates: [{ name: 'g' }] } },
      [
        "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'g'",
      ],
    ],
    [
      { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } },
      {
        metadata: {
          annotations: { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' },
        },
      },
      [
        'metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not remove or update mirror pod annotation',
        'metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: Forbidden: may not add AppArmor annotations',
      ],
    ],
    [
      {
        spec: {
          schedulingGates: [{ name: 'g' }],
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
              },
            },
          },
        },
      },
      {
        spec: {
          schedulingGates: [{ name: 'g' }],
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [
                  {
                    matchExpressions: [
                      { key: 'a', operator: 'Exists' },
                      { key: 'b', operator: 'Exists' },
                    ],
                  },
                ],
              },
            },
          },
        },
      },
      [],
    ],
    [
      {
        spec: {
          schedulingGates: [{ name: 'g' }],
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
              },
            },
          },
        },
      },
      {
        spec: {
          schedulingGates: [{ name: 'g' }],
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [{ matchExpressions: [{ key: 'b', operator: 'Exists' }] }],
              },
            },
          },
        },
      },
      [
        'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]: Invalid value: {"MatchExpressions":[{"Key":"b","Operator":"Exists","Values":null}],"MatchFields":null}: only additions are allowed (no mutations or deletions)',
      ],
    ],
    [
      {
        spec: {
          schedulingGates: [{ name: 'g' }],
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
              },
            },
          },
        },
      },
      {
        spec: {
          schedulingGates: [{ name: 'g' }],
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] },
            },
          },
        },
      },
      [
        'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term',
        'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Invalid value: []: no additions/deletions to non-empty NodeSelectorTerms list are allowed',
      ],
    ],
  ]
  for (const [before, after, expected] of cases)
    assert.deepEqual(updateErrors(POD, pod(before), pod(after)), expected, JSON.stringify(after))
})

test('Given AppArmor annotations, then containers without a profile of their own get one; windows pods none.', () => {
  const annotations = {
    'container.apparmor.security.beta.kubernetes.io/c': 'localhost/p',
    'container.apparmor.security.beta.kubernetes.io/d': 'runtime/default',
  }
  const profiles = (rest: Draft): unknown[] => {
    const spec = {
      containers: [
        { name: 'c', image: 'x' },
        { name: 'd', image: 'x' },
      ],
      ...rest,
    }
    return created(POD, { metadata: { annotations }, spec }).spec.containers.map(
      ({ securityContext }: Draft) => securityContext?.appArmorProfile?.type,
    )
  }
  assert.deepEqual(profiles({}), ['Localhost', 'RuntimeDefault'])
  assert.deepEqual(profiles({ securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } }), [
    'Localhost',
    undefined,
  ])
  assert.deepEqual(profiles({ os: { name: 'windows' } }), [undefined, undefined])
})

test('Given a resourceFieldRef without divisor, then the divisor is written as 0.', () => {
  const resourceFieldRef = { containerName: 'c', resource: 'limits.cpu' }
  const { spec } = created(POD, {
    spec: podSpec(
      { env: [{ name: 'A', valueFrom: { resourceFieldRef } }] },
      { volumes: [{ name: 'v', downwardAPI: { items: [{ path: 'p', resourceFieldRef }] } }] },
    ),
  })
  assert.equal(spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor, '0')
  assert.equal(spec.volumes[0].downwardAPI.items[0].resourceFieldRef.divisor, '0')
})

test('Given matchLabelKeys of an affinity term, then they become requirements of its selector.', () => {
  const term = {
    topologyKey: 't',
    labelSelector: { matchLabels: { a: 'b' } },
    matchLabelKeys: ['c', 'd'],
    mismatchLabelKeys: ['e'],
  }
  const { spec } = created(POD, {
    metadata: { labels: { c: '1', e: '2' } },
    spec: podSpec(
      {},
      { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } },
    ),
  })
  assert.deepEqual(
    spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector,
    {
      matchLabels: { a: 'b' },
      matchExpressions: [
        { key: 'c', operator: 'In', values: ['1'] },
        { key: 'e', operator: 'NotIn', values: ['2'] },
      ],
    },
  )
})
